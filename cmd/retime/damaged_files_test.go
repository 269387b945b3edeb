package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"retime/pipeline/fault"
)

// damaged is a kind of file that retime reads beside videos, and the commands that read it, in a
// directory with the files of makeFiles. Lists are separated by blanks.
type damaged struct {
	name    string
	prepare []string // commands that make the files
	files   string   // patterns of the files to damage
	read    []string // commands that read them, in turn; FILE is the damaged one
	output  string   // patterns of what the commands leave if they succeed
	state   string   // patterns of what they may write in any case
	names   bool     // the file names outputs
}

const (
	quickly  = " --vcodec ffv1 --preset fast --backend cpu --threads 2 --no-warn"
	inParts  = " --even --segment-seconds 0.2"
	planIt   = "plan in.y4m -o plan.json --fps 48" + inParts + quickly
	makeAll  = "segment --plan plan.json --index 0 --stride 1 --threads 2"
	resumeIt = "in.y4m -o out.mkv --fps 48 --resume --segment-seconds 0.2" + quickly
	reviewIt = "review in.y4m out.mkv --fps 48 --no-open --segment-seconds 0.2 --decisions work.decisions --static-mask work.png --curve work.curve" + quickly
)

var damagedFiles = []damaged{
	{name: "curves", files: "curve times", read: []string{"in.y4m -o out.mkv --curve FILE" + quickly}, output: "out.mkv"},
	{name: "scenes", files: "scenes", read: []string{"in.y4m -o out.mkv --fps 48 --scenes scenes" + quickly, "plan in.y4m -o plan.json --scenes scenes" + quickly}, output: "out.mkv plan.json"},
	{
		name: "decisions", prepare: []string{"in.y4m -o first.mkv --fps 48 --sidecar sidecar" + quickly}, files: "decisions sidecar",
		read: []string{"in.y4m -o out.mkv --fps 48 --decisions FILE" + quickly}, output: "out.mkv",
	},
	{name: "list of damage", files: "list", read: []string{"restore in.y4m -o out.mkv --list list" + quickly, "restore in.y4m --list list --dry-run --write-list out.txt"}, output: "out.mkv out.txt"},
	{
		name: "masks and stills", prepare: []string{"resample in.ppm -o made.png --shift 1,0", "resample in.ppm -o made.tif --shift 1,0", "resample in.ppm -o made.pfm --shift 1,0", "resample in.pgm -o made.npy --shift 1,0"},
		files:  "made.* in.ppm in.pgm",
		read:   []string{"in.y4m -o out.mkv --fps 48 --static-mask FILE" + quickly, "restore in.y4m -o out.mkv --mask FILE@3" + quickly, "resample FILE -o out.pfm --zoom 2"},
		output: "out.mkv out.pfm",
	},
	{
		name: "flow", files: "flow/*.flo", output: "out.mkv out.png",
		read: []string{"in.y4m -o out.mkv --fps 48 --flow files=flow/%05d.flo" + quickly, "resample in.ppm -o out.png --flow FILE", "in.y4m -o out.mkv --fps 48 --flow [command=./answer FILE]" + quickly},
	},
	{
		name: "flow cache", prepare: []string{"in.y4m -o first.mkv --fps 48 --flow-cache cache" + quickly}, files: "cache/*",
		read: []string{"in.y4m -o out.mkv --fps 48 --flow-cache cache" + quickly}, output: "out.mkv", state: "cache/*",
	},
	{name: "settings", files: "settings.yaml", read: []string{"evaluate in.y4m --report out --peer none --no-vif --settings settings.yaml --threads 2"}, output: "out/*"},
	{name: "weights", files: "weights.npz", read: []string{"evaluate in.y4m --report out --peer none --no-vif --max-frames 3 --lpips weights.npz --threads 2"}, output: "out/*"},
	{
		name: "jobs", files: "jobs.yaml", state: "jobs.retime/* done/*", names: true,
		read: []string{"batch jobs.yaml --threads 2 -q --confine .", "batch jobs.yaml --commands", "batch jobs.yaml --status"},
	},
	{
		name: "state of a batch", prepare: []string{"batch jobs.yaml --threads 2 -q"}, files: "jobs.retime/jobs/*.json",
		read: []string{"batch jobs.yaml --threads 2 -q --resume", "batch jobs.yaml --status --json"}, state: "jobs.retime/* done/*",
	},
	{
		name: "plan", prepare: []string{planIt}, files: "plan.json", output: "out.mkv", state: "plan.segments/*",
		read: []string{makeAll, "status --plan plan.json", "verify --plan plan.json", "join --plan plan.json -o out.mkv"},
	},
	{
		name: "segments", prepare: []string{planIt, makeAll}, files: "plan.segments/*", output: "out.mkv", state: "plan.segments/*",
		read: []string{makeAll, "status --plan plan.json --json", "verify --plan plan.json", "join --plan plan.json -o out.mkv"},
	},
	{name: "segments of --resume", prepare: []string{resumeIt}, files: ".out.mkv.resume/*", read: []string{resumeIt}, output: "out.mkv", state: ".out.mkv.resume/*"},
	{
		name: "edits", prepare: []string{"resample in.pgm -o work.png --shift 3,0", reviewIt}, files: "work.* .out.mkv.review/*", read: []string{reviewIt},
		state: "out.mkv .out.mkv.review/* work.decisions work.png work.curve",
	},
	{
		name: "clips", prepare: []string{
			"in.y4m -o clips/a.mp4", "in.y4m -o clips/b.mov --vcodec prores_ks", "in.y4m -o clips/c.mkv" + quickly, "in.y4m -o clips/d.avi --vcodec mjpeg", "in.y4m -o clips/e.ts",
		},
		files: "clips/*", output: "out.mkv out/* plan.json",
		read: []string{
			"restore FILE -o out.mkv --detect" + quickly, "restore FILE -o out.mkv --frames 3 --smart-copy", "debug FILE -o out --at 0.2", "plan FILE -o plan.json" + inParts + quickly,
			"evaluate FILE --report out --peer blend --no-vif --max-frames 3 --threads 2", "FILE -o out.mkv --resume --segment-seconds 0.2" + quickly,
		},
		state: "out.partial.mkv .out.mkv.resume/*",
	},
}

// Whatever has happened to a file of retime's own, the command that reads it works, or ends with a
// line and an exit code that fit; it leaves nothing half done and touches no other file. With
// RETIME_DAMAGED=N, it reads N damaged files of each kind, and RETIME_DAMAGED_SEED=S chooses others.
func TestDamagedFiles(t *testing.T) {
	each := 2
	if n, err := strconv.Atoi(os.Getenv("RETIME_DAMAGED")); err == nil {
		each = n
	}
	others, _ := strconv.ParseUint(os.Getenv("RETIME_DAMAGED_SEED"), 10, 32)
	for i, k := range damagedFiles {
		t.Run(k.name, func(t *testing.T) {
			dir, whole := t.TempDir(), t.TempDir()
			makeFiles(t, dir)
			for _, command := range k.prepare {
				k.prepareBy(t, dir, command)
			}
			copyAll(t, dir, whole)
			codes := map[int]int{}
			for _, command := range k.read {
				if each <= len(k.read) {
					break // for a sample, damaged files are enough
				}
				k.renew(t, whole, dir)
				if code, said := execute(t, dir, strings.ReplaceAll(command, "FILE", k.list(t, dir)[0])); code != 0 && code != int(fault.TryAgain) {
					t.Fatalf("%s, undamaged: exit code %d: %s", command, code, said)
				}
			}
			for j := range each {
				k.renew(t, whole, dir)
				codes[k.try(t, dir, k.read[j%len(k.read)], 1_000_000*others+uint64(1000*i+j))]++
			}
			t.Logf("exit codes, and how often they came: %v", codes)
		})
	}
}

// list returns the names of the files to damage.
func (k *damaged) list(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, pattern := range strings.Fields(k.files) {
		list, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, name := range list {
			name, _ = filepath.Rel(dir, name)
			names = append(names, name)
		}
	}
	return names
}

func (k *damaged) renew(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	copyAll(t, from, to)
}

// copyAll copies a directory with the times of its files, by which retime knows them again.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func (k *damaged) prepareBy(t *testing.T, dir, command string) {
	t.Helper()
	if command == resumeIt { // what is in the way lets it fail once its parts are there
		joined := filepath.Join(dir, ".out.mkv.resume", "joined.mkv")
		if err := os.MkdirAll(filepath.Join(joined, "in the way"), 0o777); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(joined)
	}
	if code, said := execute(t, dir, command); (code == 0) == (command == resumeIt) {
		t.Fatalf("%s: exit code %d: %s", command, code, said)
	}
}

// try damages a file, runs a command that reads it and checks what that leaves. It returns the exit
// code.
func (k *damaged) try(t *testing.T, dir, command string, seed uint64) int {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 29))
	files := k.list(t, dir)
	file := files[r.IntN(len(files))]
	command = strings.ReplaceAll(command, "FILE", file)
	what := "retime " + command + ", " + file
	file = filepath.Join(dir, file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data, harm := spoil(data, r)
	info, err := os.Stat(file)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err == nil {
		err = os.Chtimes(file, info.ModTime(), info.ModTime())
	}
	if err != nil {
		t.Fatal(err)
	}
	what = fmt.Sprintf("seed %d: %s with %s", seed, what, harm)
	before, began := holds(t, dir), time.Now()
	code, said := execute(t, dir, command)
	if d := time.Since(began); d > 5*time.Second {
		t.Logf("%s: took %v", what, d)
	}
	switch fault.Kind(code) {
	case 0, fault.Usage, fault.BadData, fault.NoInput, fault.CannotWrite, fault.TryAgain, fault.Mismatch:
	default:
		t.Errorf("%s: exit code %d: %.2000s", what, code, said)
	}
	if code != 0 && said == "" || strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") || strings.Contains(said, "internal error") {
		t.Errorf("%s: exit code %d: %.2000s", what, code, said)
	}
	for name, now := range holds(t, dir) {
		was := before[name]
		delete(before, name)
		written := matches(name, k.state) || k.names && was == "" || code == 0 && was == "" && matches(name, k.output)
		half := strings.HasSuffix(name, ".part")
		if now != was && (half || !written) {
			t.Errorf("%s: exit code %d: %s is left, or changed: %.2000s", what, code, name, said)
		}
	}
	for name := range before {
		if !matches(name, k.state) {
			t.Errorf("%s: exit code %d: %s is gone: %.2000s", what, code, name, said)
		}
	}
	return code
}

// matches reports whether one of the patterns fits a name or the directory that it is in. A
// pattern that ends in /* stands for the directory and all in it.
func matches(name, patterns string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		if in, all := strings.CutSuffix(p, "/*"); all {
			return name == in || strings.HasPrefix(name, in+"/")
		}
		ok, _ := filepath.Match(p, name)
		return ok
	})
}

// holds returns what a directory holds, by name.
func holds(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if all[rel] = d.Type().String(); !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		all[rel] += fmt.Sprintf(" %x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var number = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

// spoil returns data with damage, and what it is.
func spoil(data []byte, r *rand.Rand) ([]byte, string) {
	if len(data) == 0 {
		return []byte("\x00"), "a zero"
	}
	at := func() int { return r.IntN(len(data)) }
	i, j := at(), at()
	i, j = min(i, j), max(i, j)
	switch data = bytes.Clone(data); r.IntN(9) {
	case 0:
		return data[:i], fmt.Sprintf("its end cut off at %d", i)
	case 1:
		for range 1 + r.IntN(3) {
			data[at()] ^= 1 << r.IntN(8)
		}
		return data, "a few other bits"
	case 2:
		for range 1 + len(data)/100 {
			data[at()] = byte(r.Uint32())
		}
		return data, "a byte in 100 replaced"
	case 3:
		clear(data[i:min(j, i+1+len(data)/10)])
		return data, fmt.Sprintf("zeros at %d", i)
	case 4:
		return slices.Delete(data, i, min(j, i+len(data)/4)), fmt.Sprintf("a hole at %d", i)
	case 5:
		return slices.Concat(data[:j], data[i:j], data[j:]), fmt.Sprintf("bytes %d to %d twice", i, j)
	case 6:
		return bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1000)), "one byte in all places"
	}
	numbers := number.FindAllIndex(data, -1)
	if !utf8.Valid(data) || len(numbers) == 0 {
		i = 4 * r.IntN(min(16, (len(data)+3)/4))
		for i+4 > len(data) {
			data = append(data, 0)
		}
		n := []uint32{0, 1, 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 16, 0x7f800000, 0x7fc00000}[r.IntN(8)]
		binary.LittleEndian.PutUint32(data[i:], n)
		return data, fmt.Sprintf("%#x at %d", n, i)
	}
	place := numbers[r.IntN(len(numbers))]
	value := []string{"-1", "0", "1e308", "9223372036854775808", "-9223372036854775808", "NaN", "1/0", "4294967297", "", "0.0000001", `"x"`, "null", "[]"}[r.IntN(13)]
	return slices.Concat(data[:place[0]], []byte(value), data[place[1]:]), fmt.Sprintf("%q for %q at %d", value, data[place[0]:place[1]], place[0])
}

// execute runs the program in dir until it ends, which must be before long.
func execute(t *testing.T, dir, command string) (code int, said string) {
	t.Helper()
	cmd := program(words(command)...)
	cmd.Dir, cmd.Env = dir, append(cmd.Env, "TMPDIR="+filepath.Join(dir, "tmp"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	lines := bufio.NewReader(stdout)
	if strings.HasPrefix(command, "review ") {
		if address, err := lines.ReadString('\n'); err == nil {
			if err := visit(strings.TrimSpace(address)); err != nil {
				t.Errorf("%s: %v", command, err)
			}
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
	_, _ = io.Copy(io.Discard, lines)
	_ = cmd.Wait()
	if !watchdog.Stop() {
		t.Errorf("%s hangs: %.3000s", command, stderr.String())
	}
	if code = cmd.ProcessState.ExitCode(); code == int(fault.Cancelled) && strings.HasPrefix(command, "review ") {
		code = 0
	}
	return code, stderr.String()
}

// visit does what a user does with the page of review: look, edit, render.
func visit(address string) error {
	ask := func(method, path, body string) (*http.Response, error) {
		r, err := http.NewRequest(method, address+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "http://"+r.Host)
		a, err := http.DefaultClient.Do(r)
		if err == nil && a.StatusCode >= http.StatusInternalServerError {
			text, _ := io.ReadAll(a.Body)
			err = fmt.Errorf("%s %s: %s: %s", method, path, a.Status, text)
		}
		return a, err
	}
	events, err := ask("GET", "clip/0/events", "")
	if err != nil {
		return err
	}
	defer events.Body.Close()
	for _, q := range [][3]string{
		{"GET", "clip/0/state", ""}, {"GET", "clip/0/frame?view=final&frame=5", ""}, {"GET", "clip/0/mask", ""}, {"POST", "clip/0/edit", `{"do":"method","first":1,"last":2,"method":"nearest"}`},
		{"POST", "clip/0/edit", `{"do":"undo"}`}, {"POST", "clip/0/render", `{}`},
	} {
		a, err := ask(q[0], q[1], q[2])
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if q[1] == "clip/0/render" && (a.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`"state":"running"`))) {
			return nil // nothing is rendered
		}
	}
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		if line := lines.Text(); strings.Contains(line, `"state":"done"`) || strings.Contains(line, `"state":"failed"`) {
			return nil
		}
	}
	return nil
}

// words splits a command at its blanks, but for words in brackets.
func words(s string) (list []string) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		word, rest, _ := strings.Cut(s, " ")
		if s[0] == '[' {
			word, rest, _ = strings.Cut(s[1:], "]")
		}
		list, s = append(list, word), rest
	}
	return list
}
