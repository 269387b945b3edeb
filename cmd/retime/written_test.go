package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"retime/pipeline/fault"
)

// A file that a flag names is never the input, the output or another such file, and only -y
// overwrites one that is there.
func TestWrittenFiles(t *testing.T) {
	dir := filepath.Dir(clip(t, 64, 48, 6))
	t.Chdir(dir)
	if err := os.Mkdir("pictures", 0o777); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "in.y4m", "-o", "pictures/%06d.png"); code != 0 {
		t.Fatal(stderr)
	}
	write(t, "there", "as it was")
	damage := "restore in.y4m -o out.nut --frames 2 "
	for args, want := range map[string]fault.Kind{
		"in.y4m -o out.nut --sidecar in.y4m -y":                                       fault.Usage,
		"in.y4m -o out.nut --write-scenes ./in.y4m -y":                                fault.Usage,
		"in.y4m -o out.nut --sidecar out.nut":                                         fault.Usage,
		"in.y4m -o out.nut --sidecar out.txt --write-scenes out.txt":                  fault.Usage,
		"in.y4m -o out.nut --sidecar there":                                           fault.CannotWrite,
		"in.y4m -o out.nut --write-scenes there":                                      fault.CannotWrite,
		"pictures/%06d.png -o out.nut --sidecar pictures/000002.png -y":               fault.Usage,
		"pictures/%06d.png -o out.nut --confidence-maps pictures -y":                  fault.Usage,
		"pictures/*.png -o out.nut --confidence-maps pictures -y":                     fault.Usage,
		"in.y4m -o pictures/%06d.png --confidence-maps pictures -y":                   fault.Usage,
		"in.y4m -o out.nut --sidecar -":                                               fault.Usage,
		"in.y4m -o out.nut --write-scenes - -y":                                       fault.Usage,
		"flow in.y4m -o -":                                                            fault.Usage,
		damage + "--dry-run --write-list -":                                           fault.Usage,
		"plan in.y4m -o in.y4m -y":                                                    fault.Usage,
		"plan in.y4m -o there":                                                        fault.CannotWrite,
		damage + "--log in.y4m -y":                                                    fault.Usage,
		damage + "--log out.nut":                                                      fault.Usage,
		damage + "--log there":                                                        fault.CannotWrite,
		damage + "--write-list in.y4m -y":                                             fault.Usage,
		damage + "--dry-run --write-list in.y4m -y":                                   fault.Usage,
		damage + "--dry-run --write-list there":                                       fault.CannotWrite,
		damage + "--log out.txt --write-list out.txt":                                 fault.Usage,
		"in.y4m -o out.nut --fps 48 --sidecar there -y --write-scenes /dev/null":      0,
		"in.y4m -o - -f nut --vcodec rawvideo --sidecar there -y":                     0,
		"in.y4m -o /dev/null -f nut --vcodec rawvideo --write-scenes /dev/null":       0,
		"plan in.y4m -o there -y --even":                                              0,
		damage + "--log there --write-list /dev/null -y":                              0,
		"restore in.y4m -o out.nut --list list --write-list list -y":                  fault.Usage,
		"batch . --glob in.y4m -o outs --sidecar there":                               fault.CannotWrite,
		"batch . --glob in.y4m -o outs --state state --sidecar there -y --mode blend": 0,
	} {
		for _, old := range []string{"out.nut", "out.txt"} {
			os.Remove(old)
		}
		write(t, "list", "2\n")
		write(t, "there", "as it was")
		before := contents(t)
		_, stderr, code := run(t, strings.Fields(args)...)
		if code != int(want) {
			t.Errorf("retime %s: exit code %d, want %d\n%s", args, code, want, stderr)
		}
		if want == fault.CannotWrite && !strings.Contains(stderr, "-y overwrites it") && !strings.HasPrefix(args, "batch") {
			t.Errorf("retime %s: %s", args, stderr)
		}
		if after := contents(t); want != 0 && !strings.HasPrefix(args, "batch") && after != before {
			t.Errorf("retime %s changes files: %s\nbefore: %s", args, after, before)
		}
		if text, _ := os.ReadFile("there"); (string(text) == "as it was") == (want == 0 && strings.Contains(args, " there")) {
			t.Errorf("retime %s: what is there is %.60q", args, text)
		}
	}
}

// No verb writes over what it reads, not even with -y.
func TestWhatIsReadIsKept(t *testing.T) {
	dir := filepath.Dir(clip(t, 64, 48, 6))
	t.Chdir(dir)
	for _, args := range []string{"in.y4m -o other.nut --sidecar decisions", "plan in.y4m -o plan.json -f nut --even", "segment --plan plan.json --index 0"} {
		if _, stderr, code := run(t, strings.Fields(args)...); code != 0 {
			t.Fatal(stderr)
		}
	}
	for name, text := range map[string]string{"curve": "0 1\n1 0.5\n", "scenes": "0.1\n", "list": "2\n", "settings.yaml": "preset: fast\n", "0.flo": "no flow", "0.npy": ""} {
		write(t, name, text)
	}
	for _, d := range []string{"why", "report"} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mask.png", "why/overlay.png", "maps/000001.png"} {
		if _, stderr, code := run(t, "in.y4m", "-o", "mask%d.png", "--to", "0.04", "-y"); code != 0 {
			t.Fatal(stderr)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename("mask1.png", name); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "report/report.json", "preset: fast\n")
	before := contents(t)
	convert := "in.y4m --curve curve --scenes scenes --decisions decisions --static-mask mask.png "
	restore := "restore in.y4m --frames 2 --list list --mask mask.png@2 --scenes scenes "
	for _, args := range []string{
		convert + "-f nut -o curve", convert + "-f nut -o scenes", convert + "-f nut -o decisions", convert + "-f nut -o mask.png", convert + "-o out.nut --sidecar decisions",
		convert + "-o out.nut --sidecar ./curve", convert + "-o out.nut --write-scenes scenes", convert + "-f nut -o mask.png",
		"in.y4m -o out.nut --static-mask maps/000001.png --confidence-maps maps", "in.y4m -f nut -o 0.flo --flow files=%d.flo",
		convert + "-f nut -o curve --resume",
		restore + "-f nut -o list", restore + "-o out.nut --write-list list", restore + "-f nut -o mask.png", restore + "-o out.nut --log scenes", restore + "--dry-run --write-list mask.png",
		"plan " + convert + "-o curve", "plan " + convert + "-o decisions",
		"join --plan plan.json -f nut -o plan.json", "join --plan plan.json -f nut -o plan.segments/000000.json", "join --plan plan.json -o in.y4m",
		"batch . --glob in.y4m -o . --curve curve --sidecar curve", "batch . --glob in.y4m -o outs --curve curve --sidecar curve",
		"resample mask.png -o mask.png --shift 1,1", "resample mask.png -o 0.npy --flow 0.npy",
		"evaluate in.y4m --report report --settings report/report.json", "debug in.y4m --at 0.1 -o why --static-mask why/overlay.png",
		"review in.y4m --scenes scenes --decisions scenes --no-open",
	} {
		_, stderr, code := run(t, append(strings.Fields(args), "-y")...)
		if code != int(fault.Usage) {
			t.Errorf("retime %s: exit code %d\n%s", args, code, stderr)
		}
		if after := contents(t); after != before {
			t.Errorf("retime %s changes files: %s\nbefore: %s", args, after, before)
			before = after
		}
	}
}

// Every flag that names files says whether they are read or written, so that no verb forgets one.
func TestFlagsSayWhatTheirFilesAreFor(t *testing.T) {
	neither := map[string]bool{"confine": true, "state": true}
	for _, cmd := range verbsOf(newRootCommand()) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			d := definition(f)
			if d == nil || neither[d.name] {
				return
			}
			switch d.arg {
			case "FILE", "FILES", "LIST", "DIR", "FILE@FRAMES":
				if d.use == noFile || d.path == nil && d.files == nil {
					t.Errorf("%s --%s does not say what its file is for", cmd.Name(), d.name)
				}
			}
		})
	}
}

// Nor is a file that a review keeps, which it writes again without -y.
func TestFilesOfAReview(t *testing.T) {
	dir := filepath.Dir(clip(t, 64, 48, 2))
	t.Chdir(dir)
	for args, good := range map[string]bool{
		"":                              true,
		"--decisions there":             true,
		"-o in.y4m":                     false,
		"--decisions in.y4m":            false,
		"--curve out.nut":               false,
		"--static-mask x --decisions x": false,
	} {
		write(t, "there", "")
		var o ReviewOptions
		flags := pflag.NewFlagSet("review", pflag.ContinueOnError)
		o.AddFlags(flags)
		if err := flags.Parse(strings.Fields("-o out.nut " + args)); err != nil {
			t.Fatal(err)
		}
		if _, err := o.clip([]string{"in.y4m"}, flags); (err == nil) != good || err != nil && fault.KindOf(err) != fault.Usage {
			t.Errorf("review in.y4m -o out.nut %s: %v", args, err)
		}
	}
	var o ReviewOptions
	flags := pflag.NewFlagSet("review", pflag.ContinueOnError)
	o.AddFlags(flags)
	c, err := o.clip([]string{"in.y4m"}, flags)
	if out := c.Conversion.Output.File; err != nil || out != "in-retimed.y4m" {
		t.Errorf("review in.y4m writes %q: %v", out, err)
	}
	if f := c.Files; filepath.Base(f.Decisions) != "in-retimed.decisions" || filepath.Base(f.Mask) != "in-retimed.mask.png" || filepath.Base(f.Curve) != "in-retimed.curve" {
		t.Errorf("review in.y4m keeps its edits in %+v", f)
	}
}

// What appears during a run under a name that it writes stays, without -y.
func TestFilesThatAppear(t *testing.T) {
	dir := filepath.Dir(clip(t, 64, 48, 40))
	t.Chdir(dir)
	in, err := os.ReadFile("in.y4m")
	if err != nil {
		t.Fatal(err)
	}
	for name, kept := range map[string]string{"out.nut": "out.partial.nut", "sidecar": "", "scenes": "", "pictures/000038.png": "pictures/%06d.partial.png", "maps/000039.png": ""} {
		args := "- -o out.nut --progress json --fps 48 --sidecar sidecar --write-scenes scenes --confidence-maps maps"
		if filepath.Dir(name) == "pictures" {
			args = "- -o pictures/%06d.png --progress json"
		}
		for _, old := range []string{"out.nut", "sidecar", "scenes", "pictures", "maps"} {
			os.RemoveAll(old)
		}
		if err := os.MkdirAll("pictures", 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := program(strings.Fields(args)...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		fed := make(chan error)
		go func() { // the program reads ahead
			_, err := stdin.Write(in[:len(in)*3/4])
			fed <- err
		}()
		said := atWork(t, cmd)
		if err := <-fed; err != nil {
			t.Fatal(err)
		}
		write(t, name, "theirs")
		if _, err := stdin.Write(in[len(in)*3/4:]); err != nil {
			t.Fatal(err)
		}
		stdin.Close()
		stderr := said()
		if code := ends(t, cmd); code != int(fault.CannotWrite) || !strings.Contains(stderr, filepath.FromSlash(name)) && kept == "" || !strings.Contains(stderr, kept) {
			t.Errorf("%s: exit code %d\n%s", name, code, stderr)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "theirs" {
			t.Errorf("%s holds %.20q: %v", name, text, err)
		}
		if parts, _ := filepath.Glob(".*.part"); parts != nil {
			t.Errorf("%s: %q are left", name, parts)
		}
	}
}

// An output that is a link, and files beside it that are, stay links: what they lead to is written,
// in whatever directory that lies, and so are the parts that --resume keeps.
func TestOutputsThatAreLinks(t *testing.T) {
	dir := filepath.Dir(clip(t, 64, 48, 12))
	t.Chdir(dir)
	for _, args := range []string{"in.y4m -o out.nut --sidecar sidecar --write-scenes scenes -y", "in.y4m -o out.nut --resume -y", "restore in.y4m -o out.nut --frames 3 --log sidecar -y"} {
		far := t.TempDir()
		links := []string{"out.nut", "sidecar", "scenes"}
		for i, name := range links {
			os.Remove(name)
			if err := os.Symlink(filepath.Join(far, name), name); err != nil {
				t.Fatal(err)
			}
			if i > 0 { // the output's link leads nowhere yet
				write(t, name, "")
			}
		}
		if _, stderr, code := run(t, strings.Fields(args)...); code != 0 {
			t.Errorf("retime %s: exit code %d\n%s", args, code, stderr)
		}
		for _, name := range links {
			info, err := os.Lstat(name)
			if err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("retime %s: %s is no link any more: %v", args, name, err)
			}
			if info, err = os.Stat(name); err != nil || info.Size() == 0 && name != "scenes" && strings.Contains(args, name) { // there is no cut
				t.Errorf("retime %s: nothing was written to what %s leads to: %v", args, name, err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(far, ".*")); left != nil {
			t.Errorf("retime %s: %q are left", args, left)
		}
	}
	if _, stderr, code := run(t, "in.y4m", "-o", "out.nut"); code != int(fault.CannotWrite) || !strings.Contains(stderr, "-y") {
		t.Errorf("a link to a file that is there: exit code %d\n%s", code, stderr)
	}
	if err := os.Symlink("in.y4m", "link"); err != nil {
		t.Fatal(err)
	}
	before := contents(t)
	if _, stderr, code := run(t, "in.y4m", "-o", "out.nut", "--sidecar", "link", "-y"); code != int(fault.Usage) || contents(t) != before {
		t.Errorf("a link to the input: exit code %d\n%s", code, stderr)
	}
}

// contents returns the files and directories below the directory, the former with the beginnings of their contents.
func contents(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(".", func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			all.WriteString(name + "/\n")
			return nil
		}
		text, err := os.ReadFile(name)
		all.WriteString(name + " " + string(text[:min(len(text), 16)]) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A file that standard input is read from is the input by its own name, too.
func TestInputByRedirection(t *testing.T) {
	t.Chdir(filepath.Dir(clip(t, 64, 48, 2)))
	before := contents(t)
	for _, args := range []string{"- -o in.y4m -y", "- -o out.nut --sidecar in.y4m -y", "- -o out.nut --fps 48"} {
		in, err := os.Open("in.y4m")
		if err != nil {
			t.Fatal(err)
		}
		cmd := program(strings.Fields(args)...)
		cmd.Stdin = in
		said, err := cmd.CombinedOutput()
		in.Close()
		if !strings.Contains(args, "-y") {
			if err != nil {
				t.Errorf("retime %s: %v\n%s", args, err, said)
			}
			continue
		}
		if code := cmd.ProcessState.ExitCode(); code != int(fault.Usage) || !strings.Contains(string(said), "is the input") {
			t.Errorf("retime %s: exit code %d\n%s", args, code, said)
		}
		if after := contents(t); after != before {
			t.Errorf("retime %s changes files: %s\nbefore: %s", args, after, before)
		}
	}
}

// A batch does not write over its own job file.
func TestJobFileIsKept(t *testing.T) {
	t.Chdir(filepath.Dir(clip(t, 64, 48, 2)))
	for _, written := range []string{"output: jobs.yaml\n    format: nut", "output: out.nut\n    sidecar: ./jobs.yaml"} {
		write(t, "jobs.yaml", "clips:\n  - input: in.y4m\n    "+written+"\n")
		before := contents(t)
		_, stderr, code := run(t, "batch", "jobs.yaml", "-y")
		if code != int(fault.Usage) || !strings.Contains(stderr, "line 2:") || !strings.Contains(stderr, "is the job file") {
			t.Errorf("%s: exit code %d: %s", written, code, stderr)
		}
		if after := contents(t); after != before {
			t.Errorf("%s changes files: %s\nbefore: %s", written, after, before)
		}
	}
}

// What damage leaves of an output takes the place of no file: not of the input, nor of a file of
// the batch, and without -y of none.
func TestPartialOutputsReplaceNothing(t *testing.T) {
	t.Chdir(filepath.Dir(clip(t, 64, 48, 48)))
	for _, d := range []string{"in", "out"} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, code := run(t, "in.y4m", "-o", "in/clip.partial.mkv"); code != 0 {
		t.Fatal(stderr)
	}
	whole, err := os.ReadFile("in/clip.partial.mkv")
	if err != nil {
		t.Fatal(err)
	}
	cut := whole[:len(whole)/2]
	write(t, "jobs.yaml", "clips:\n  - input: cut.mkv\n    output: in/clip.mkv\n  - input: in/clip.partial.mkv\n    output: out/b.mkv\n")
	for _, c := range []struct {
		args, kept string
		input      []byte // that the file kept has
		partial    string
	}{
		{"in/clip.partial.mkv -o in/clip.mkv", "in/clip.partial.mkv", cut, "in/clip.partial-2.mkv"},
		{"in/clip.partial.mkv -o in/clip.mkv -y", "in/clip.partial.mkv", cut, "in/clip.partial-2.mkv"},
		{"restore in/clip.partial.mkv -o in/clip.mkv --frames 3 -y", "in/clip.partial.mkv", cut, "in/clip.partial-2.mkv"},
		{"cut.mkv -o in/clip.mkv", "in/clip.partial.mkv", whole, "in/clip.partial-2.mkv"},
		{"cut.mkv -o in/clip.mkv -y --sidecar in/clip.partial.mkv", "", nil, "in/clip.partial-2.mkv"},
		{"batch jobs.yaml -j 1 -y", "in/clip.partial.mkv", whole, "in/clip.partial-2.mkv"},
		{"batch in -j 1 --glob *.mkv -o out -y", "", nil, "out/clip.partial-2.mkv"},
		{"cut.mkv -o in/clip.mkv -y", "", nil, "in/clip.partial.mkv"},
	} {
		for _, pattern := range []string{"in/*", "out/*"} {
			old, _ := filepath.Glob(pattern)
			for _, name := range old {
				os.RemoveAll(name)
			}
		}
		write(t, "cut.mkv", string(cut))
		if strings.HasPrefix(c.args, "batch in") {
			write(t, "in/clip.mkv", string(cut))
			c.input = whole
		}
		if c.input == nil {
			c.input = whole
		}
		write(t, "in/clip.partial.mkv", string(c.input))
		_, stderr, code := run(t, strings.Fields(c.args)...)
		if code != int(fault.BadData) && !strings.HasPrefix(c.args, "batch") {
			t.Errorf("retime %s: exit code %d\n%s", c.args, code, stderr)
		}
		if text, err := os.ReadFile(c.kept); c.kept != "" && (err != nil || string(text) != string(c.input)) {
			t.Errorf("retime %s replaces %s", c.args, c.kept)
		}
		if _, err := os.Stat(c.partial); err != nil {
			t.Errorf("retime %s: %v\n%s", c.args, err, stderr)
		}
	}
}

// An output that is refused leaves nothing behind, neither directories that were made for what would come with it nor
// lists; and it is refused before a restoration looks for damage.
func TestRefusalsLeaveNothing(t *testing.T) {
	t.Chdir(filepath.Dir(clip(t, 64, 48, 6)))
	write(t, "there.nut", "as it was")
	before := contents(t)
	with := map[string]string{
		"restore in.y4m --frames 2":              " --report a/report --log log --write-list list",
		"restore in.y4m --frames 2 --smart-copy": " --report a/report --log log --write-list list",
		"in.y4m --fps 50":                        " --confidence-maps a/maps --write-flow b/flow/%d.flo --sidecar sidecar --write-scenes scenes",
		"in.y4m --fps 50 --resume":               "",
		"flow":                                   " -o a/b/%d.flo",
		"evaluate":                               " --report a/b",
	}
	for verb, flags := range with {
		refused := []string{" -o there.nut", " -o out.none", " -o none/out.nut", " -o out.nut --mux none=1"}
		if !strings.Contains(verb, " ") {
			refused = []string{" none.y4m"}
		}
		for _, output := range refused {
			args := verb + output + flags
			if _, stderr, code := run(t, strings.Fields(args)...); code == 0 || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit code %d, said %q", args, code, stderr)
			}
			if after := contents(t); after != before {
				t.Fatalf("%s left\n%s\nnot\n%s", args, after, before)
			}
		}
	}
}
