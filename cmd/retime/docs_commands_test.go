package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/testdata/scene"
)

// commandBlock is a block of commands in a document, fenced as sh or console.
type commandBlock struct {
	document, kind, notRun, text string
	line                         int
}

var (
	commandFence = regexp.MustCompile("(?ms)(?:^<!-- not run: ([^\n]*) -->\n)?^```(sh|console)\n(.*?)^```$")
	unfenced     = regexp.MustCompile(`(?m)^    (?:\$ )?(?:bin/)?(retime(?:-farm)? .*)$`)
	inlineCode   = regexp.MustCompile("`([^`\n]+)`")
	figures      = regexp.MustCompile(`(?m:^worst: .*$)|\d+x\d+|[\d.]+ (MB|s|frame/\S+)\b`)
)

// documents returns the text of the README and all documents by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	text := map[string]string{}
	for _, name := range append(names, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text[filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name)] = string(data)
	}
	return text
}

// commandBlocks returns the blocks of commands of all documents.
func commandBlocks(t *testing.T) (blocks []commandBlock) {
	t.Helper()
	for name, text := range documents(t) {
		for _, m := range commandFence.FindAllStringSubmatchIndex(text, -1) {
			b := commandBlock{document: name, kind: text[m[4]:m[5]], text: text[m[6]:m[7]], line: strings.Count(text[:m[6]], "\n") + 1}
			if m[2] >= 0 {
				b.notRun = text[m[2]:m[3]]
			}
			blocks = append(blocks, b)
		}
	}
	slices.SortFunc(blocks, func(a, b commandBlock) int {
		return strings.Compare(fmt.Sprintf("%s:%05d", a.document, a.line), fmt.Sprintf("%s:%05d", b.document, b.line))
	})
	return blocks
}

// commands returns the commands of a block, and what each of a console's prints.
func (b *commandBlock) commands() (list, printed []string) {
	for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case b.kind == "sh" || isCommand:
			list, printed = append(list, strings.TrimSpace(command)), append(printed, "")
		case len(printed) > 0:
			printed[len(printed)-1] += line
		}
	}
	return list, printed
}

// clipFor are the clips that take the place of in.mp4 where that would take long.
var clipFor = map[string]string{"docs/evaluate.md": "slide.mp4", "docs/boxspline.md": "testdata/demo.mp4", "docs/clusters.md": "testdata/demo.mp4"}

// TestDocumentCommands runs every command of every document on small clips of the names that
// the documents use. A comment before a block, <!-- not run: REASON -->, leaves it out.
func TestDocumentCommands(t *testing.T) {
	material := commandMaterial(t)
	ran := 0
	for _, b := range commandBlocks(t) {
		if b.notRun != "" {
			continue
		}
		ran++
		t.Run(fmt.Sprintf("%s:%d", b.document, b.line), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			linkTree(t, material, dir)
			if clip := clipFor[b.document]; clip != "" {
				moveFile(t, filepath.Join(dir, clip), filepath.Join(dir, "in.mp4"))
			}
			if b.document == "docs/security.md" { // a plan has the whole name of its input
				runDocumented(t, dir, "retime plan /srv/jobs/4711/in.mp4 -o /srv/jobs/4711/plan.json -q", "")
			}
			list, printed := b.commands()
			for i, command := range list {
				runDocumented(t, dir, command, printed[i])
			}
		})
	}
	if ran < 12 {
		t.Errorf("only %d blocks were run", ran)
	}
}

// writtenTo matches the outputs of a command.
var writtenTo = regexp.MustCompile(`(?:-o|--report) ([\w./%-]+)`)

// runDocumented runs a command in dir, and compares what it prints with printed, but for times,
// rates and sizes. The commands of a block may be alternatives with one output.
func runDocumented(t *testing.T, dir, command, printed string) {
	t.Helper()
	for _, m := range writtenTo.FindAllStringSubmatch(command, -1) {
		_ = os.RemoveAll(filepath.Join(dir, m[1]))
	}
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(command, " /srv/", " "+dir+"/srv/"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s\n%v\n%s", command, err, out)
	}
	if got, want := masked(string(out)), masked(printed); printed != "" && got != want {
		t.Errorf("%s\nprints\n%s\nthe document says\n%s", command, got, want)
	}
}

// masked replaces the figures that depend on the machine and the picture.
func masked(text string) string {
	return strings.TrimSpace(figures.ReplaceAllString(text, "#"))
}

func linkTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		if e.IsDir() {
			return os.MkdirAll(name, 0o777)
		}
		return os.Link(path, name)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func moveFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// commandMaterial makes a directory with the files that the documents' commands read, and the
// programs that they run.
func commandMaterial(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bin/retime":              "#!/bin/sh\nRETIME_TEST_MAIN=1 exec '" + os.Args[0] + "' \"$@\"\n",
		"bin/ffplay":              "#!/bin/sh\nexec cat >played\n",
		"bin/my-program":          "#!/bin/sh\nexec ffmpeg -v error -i \"$1\" -vf tpad=stop=3:stop_mode=clone,fps=$3 -c:v rawvideo -f nut -\n",
		"fast.yaml":               "preset: fast\n",
		"best.yaml":               "preset: best\n",
		"srv/jobs/4711/jobs.yaml": "clips:\n  - {input: in.mp4, output: out.mkv}\n",
		"restored/kept":           "",
		"build/kept":              "",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o777); err != nil { //nolint:gosec // programs
			t.Fatal(err)
		}
	}
	for name, size := range map[string][4]int{"long.y4m": {128, 96, 144, 12}, "demo.y4m": {64, 48, 96, 24}, "slide.y4m": {64, 48, 30, 2}} {
		if err := scene.CreateY4M(filepath.Join(dir, name), size[0], size[1], size[2], size[3], 1); err != nil {
			t.Fatal(err)
		}
	}
	script := `set -e
mkdir scan render testdata
x264='-c:v libx264 -preset ultrafast -crf 18 -g 24'
f='ffmpeg -v error -y'
$f -i long.y4m -f lavfi -i sine -shortest -vf "drawbox=c=black:t=fill:enable='eq(n,100)'" -c:a aac $x264 in.mp4
$f -i in.mp4 -c copy in.mov
$f -i in.mp4 -c copy in.mkv
$f -i long.y4m -frames:v 1 in.png
$f -i long.y4m -frames:v 1 -vf "drawbox=c=black:t=fill,drawbox=40:30:20:20:c=white:t=fill" -pix_fmt gray scratch.png
$f -i long.y4m scan/f%05d.tiff
$f -i long.y4m -pix_fmt rgb24 scan/f%05d.dpx
$f -i long.y4m -frames:v 4 -pix_fmt gbrpf32le -start_number 1001 render/p.%04d.exr
rm scan/f00007.dpx
$f -r 24 -i long.y4m -frames:v 48 -vf telecine=pattern=23 -flags +ildct+ilme $x264 pulldown.mp4
$f -i long.y4m -vf tinterlace=interleave_top,setfield=tff -c:v ffv1 tape.mkv
$f -i long.y4m $x264 twos.mp4
$f -i demo.y4m $x264 testdata/demo.mp4
$f -i slide.y4m $x264 slide.mp4
cp in.mp4 srv/jobs/4711/
rm *.y4m`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// Every flag that a document names is one of the program, of its verb if a command names that.
func TestDocumentFlags(t *testing.T) {
	root := newRootCommand()
	farm := farmFlags(t)
	checked := 0
	for name, text := range documents(t) {
		var commands []string
		for _, m := range append(unfenced.FindAllStringSubmatch(text, -1), inlineCode.FindAllStringSubmatch(text, -1)...) {
			commands = append(commands, m[1])
		}
		for _, m := range commandFence.FindAllStringSubmatch(text, -1) {
			b := commandBlock{kind: m[2], text: m[3]}
			list, _ := b.commands()
			commands = append(commands, list...)
		}
		for _, command := range commands {
			for _, part := range pieces.Split(shellQuotes.ReplaceAllString(command, "''"), -1) {
				words := strings.Fields(strings.NewReplacer("[", " ", "]", " ", "...", " ").Replace(part))
				if i := slices.IndexFunc(words, notAssignment); i >= 0 && isProgram(words[i]) {
					checked++
					checkFlagNames(t, name+": "+command, root, farm, words[i], words[i+1:])
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d commands", checked)
	}
}

var (
	shellQuotes = regexp.MustCompile(`'[^']*'`)
	pieces      = regexp.MustCompile(`&&|[|;#]|--wrap "`)
	flagNames   = regexp.MustCompile(`^--?([a-zA-Z][\w-]*)`)
)

func notAssignment(word string) bool { return !strings.Contains(word, "=") }

func isProgram(word string) bool {
	return slices.Contains([]string{"retime", "retime-farm"}, strings.TrimPrefix(word, "bin/"))
}

// checkFlagNames checks the names of the flags among the words after a program's name.
func checkFlagNames(t *testing.T, where string, root *cobra.Command, farm []string, program string, words []string) {
	t.Helper()
	verb := root
	for _, v := range root.Commands() {
		if len(words) > 0 && v.Name() == words[0] {
			verb = v
		}
	}
	for i, w := range words {
		if i > 0 && words[i-1] == "--sbatch" { // Slurm's
			continue
		}
		m := flagNames.FindStringSubmatch(w)
		switch {
		case m == nil || m[1] == "help" || m[1] == "version" && verb == root:
		case strings.HasSuffix(program, "retime-farm") && (slices.Contains(farm, m[1]) || hasFlag(root.Flags(), m[1])):
		case strings.HasSuffix(program, "-farm") || !hasFlag(verb.Flags(), m[1]):
			t.Errorf("%s: no flag %s", where, w)
		}
	}
}

func hasFlag(f *pflag.FlagSet, name string) bool {
	return f.Lookup(name) != nil || len(name) == 1 && f.ShorthandLookup(name) != nil
}

// farmFlags returns the names of retime-farm's flags, from its sources: it is a module of its own.
func farmFlags(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../retime-farm/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`Var(?:P)?\([^"\n]*"([a-z-]+)"(?:, "(\w)")?`).FindAllStringSubmatch(string(source), -1) {
			names = append(names, m[1:]...)
		}
	}
	return names
}

// Every target of make that a document names is one.
func TestDocumentTargets(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)(?:^|&& )make ([a-z][a-z0-9-]*)\b`)
	checked := 0
	for name, text := range documents(t) {
		var code []string
		for _, m := range append(inlineCode.FindAllStringSubmatch(text, -1), commandFence.FindAllStringSubmatch(text, -1)...) {
			code = append(code, m[len(m)-1])
		}
		for _, m := range named.FindAllStringSubmatch(strings.Join(code, "\n"), -1) {
			checked++
			if !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s: the Makefile has no target %s", name, m[1])
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d targets", checked)
	}
}
