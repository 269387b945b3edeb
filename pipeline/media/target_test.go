package media

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// On commit a file gets its name or a partial file's. Before commit, Sweep removes the
// file only if its process has ended.
func TestFileTarget(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a b.mkv")
	for _, c := range []struct {
		partial bool
		want    string
	}{{false, "a b.mkv"}, {true, "a b.partial.mkv"}} {
		target, err := newTarget(name, "in.mkv", &WriterOptions{Overwrite: true})
		if err != nil {
			t.Fatal(err)
		}
		at := strings.TrimPrefix(target.url, "file:")
		if err := os.WriteFile(at, []byte("whole"), 0o666); err != nil || filepath.Dir(at) != dir || !target.reread() {
			t.Fatalf("%s: %v", at, err)
		}
		if err := atomicfile.Sweep(name); err != nil {
			t.Fatal(err)
		}
		got, err := target.commit(c.partial)
		if err != nil || got != filepath.Join(dir, c.want) {
			t.Errorf("%q: %v", got, err)
		}
		target.discard() // a committed file stays
		if text, err := os.ReadFile(got); err != nil || string(text) != "whole" {
			t.Errorf("%q: %v", text, err)
		}
	}
	target, err := newTarget(name, "in.mkv", &WriterOptions{Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	target.discard()
	target.discard()
	if got := namesIn(t, dir); !slices.Equal(got, []string{"a b.mkv", "a b.partial.mkv"}) {
		t.Errorf("%q", got)
	}
}

// made has the target's files hold "ours".
func made(t *testing.T, target target, names ...string) {
	t.Helper()
	at := strings.TrimPrefix(target.url, "file:")
	if len(names) == 0 {
		names = []string{filepath.Base(at)}
	}
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(filepath.Dir(at), n), []byte("ours"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// theirs returns the files of dir that do not hold "ours".
func theirs(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, n := range namesIn(t, dir) {
		if text, err := os.ReadFile(filepath.Join(dir, n)); err != nil || string(text) != "ours" {
			names = append(names, n)
		}
	}
	return names
}

// What appears during the run stays, and so does all that was there under the name of a partial
// output, and the input and the other files of the run even if files are overwritten.
func TestTargetsReplaceNothing(t *testing.T) {
	for _, c := range []struct {
		name      string
		there     []string // before
		appears   []string // during the run
		keep      []string
		overwrite bool
		partial   bool
		want      string   // the name that commit returns
		all       []string // files in the end
		kept      []string // of these, those that are not the target's
	}{
		{"a.mkv", nil, []string{"a.mkv"}, nil, false, false, "a.partial.mkv", []string{"a.mkv", "a.partial.mkv"}, []string{"a.mkv"}},
		{"a.mkv", []string{"a.partial.mkv"}, nil, nil, false, true, "a.partial-2.mkv", []string{"a.partial-2.mkv", "a.partial.mkv"}, []string{"a.partial.mkv"}},
		{"a.mkv", []string{"a.partial.mkv"}, nil, nil, true, true, "a.partial.mkv", []string{"a.partial.mkv"}, nil},
		{"a.partial.mkv", []string{"in.mkv"}, nil, nil, true, true, "a.partial.partial.mkv", []string{"a.partial.partial.mkv", "in.mkv"}, []string{"in.mkv"}},
		{"in.mkv", []string{"in.partial.mkv"}, nil, []string{"in.partial.mkv", "in.partial-2.mkv"}, true, true, "in.partial-3.mkv", []string{"in.partial-3.mkv", "in.partial.mkv"}, []string{"in.partial.mkv"}},
		{"%d.png", nil, []string{"2.png"}, nil, false, false, "%d.partial.png", []string{"1.partial.png", "2.partial.png", "2.png"}, []string{"2.png"}},
		{"%d.png", []string{"2.partial.png"}, nil, nil, false, true, "%d.partial-2.png", []string{"1.partial-2.png", "2.partial-2.png", "2.partial.png"}, []string{"2.partial.png"}},
		{"%d.png", []string{"2.partial.png"}, nil, nil, true, true, "%d.partial.png", []string{"1.partial.png", "2.partial.png"}, nil},
		{"%d.png", []string{"2.partial.png"}, nil, []string{"%d.partial.png"}, true, true, "%d.partial-2.png", []string{"1.partial-2.png", "2.partial-2.png", "2.partial.png"}, []string{"2.partial.png"}},
	} {
		dir := filesIn(t, c.there...)
		opt := &WriterOptions{Overwrite: c.overwrite, StreamOptions: StreamOptions{Log: slog.New(slog.DiscardHandler)}}
		for _, k := range c.keep {
			opt.Keep = append(opt.Keep, filepath.Join(dir, k))
		}
		target, err := newTarget(filepath.Join(dir, c.name), filepath.Join(dir, "in.mkv"), opt)
		if err != nil {
			t.Fatal(err)
		}
		if IsSequence(c.name) {
			made(t, target, "1.png", "2.png")
		} else {
			made(t, target)
		}
		for _, n := range c.appears {
			if err := os.WriteFile(filepath.Join(dir, n), []byte("theirs"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := target.commit(c.partial)
		if failed := fault.KindOf(err) == fault.CannotWrite && strings.Contains(err.Error(), c.want); got != filepath.Join(dir, c.want) || (err != nil) != (c.appears != nil) || err != nil && !failed {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		target.discard()
		if all, kept := namesIn(t, dir), theirs(t, dir); !slices.Equal(all, c.all) || !slices.Equal(kept, c.kept) {
			t.Errorf("%+v: %q are there, of which %q are not the output's", c, all, kept)
		}
	}
}

func TestSequenceTarget(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		partial bool
		number  func(int) int
		want    []string
	}{
		{false, nil, []string{"001.png", "002.png"}},
		{false, func(k int) int { return 7 + 2*k }, []string{"001.png", "002.png", "007.png", "009.png"}},
		{true, func(k int) int { return 2 + k }, []string{"001.png", "002.partial.png", "002.png", "003.partial.png", "007.png", "009.png"}},
	} {
		target, err := newTarget(filepath.Join(dir, "%03d.png"), "in.mkv", &WriterOptions{Overwrite: true, Number: c.number, StreamOptions: StreamOptions{Log: slog.New(slog.DiscardHandler)}})
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Dir(strings.TrimPrefix(target.url, "file:"))
		for _, n := range []string{"001.png", "002.png"} {
			if err := os.WriteFile(filepath.Join(at, n), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := target.commit(c.partial); err != nil || target.reread() {
			t.Fatal(err)
		}
		target.discard()
		if got := namesIn(t, dir); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	target, err := newTarget(filepath.Join(dir, "%03d.png"), "in.mkv", &WriterOptions{Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	target.discard()
	if got := namesIn(t, dir); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

// A shorter sequence leaves the end of the one before it, and says so. A partial one overwrites
// nothing.
func TestSequencesThatStay(t *testing.T) {
	for _, c := range []struct {
		partial bool
		first   int
		want    string
	}{
		{false, 1, "pictures=2 numbers=3-4"},
		{false, 2, "pictures=2 numbers=1-4"},
		{false, 3, "pictures=2 numbers=1-2"},
		{false, 7, "pictures=4 numbers=1-4"},
		{true, 1, ""},
	} {
		dir := filesIn(t, "1.png", "2.png", "3.png", "4.png", "005.png")
		var log strings.Builder
		target, err := newTarget(filepath.Join(dir, "%d.png"), "in.mkv", &WriterOptions{
			Overwrite: true, Number: func(k int) int { return c.first + k }, StreamOptions: StreamOptions{Log: slog.New(slog.NewTextHandler(&log, nil))},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"1.png", "2.png"} {
			if err := os.WriteFile(filepath.Join(filepath.Dir(strings.TrimPrefix(target.url, "file:")), n), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := target.commit(c.partial); err != nil {
			t.Fatal(err)
		}
		if got := log.String(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("partial %v, from %d: %q, want %q", c.partial, c.first, got, c.want)
		}
	}
}

// A target removes what killed processes have left of the same name.
func TestTargetsSweep(t *testing.T) {
	dir := t.TempDir()
	left := []string{atomicfile.Part("a.mkv"), atomicfile.Part("sequence") + "/001.png"}
	stays := []string{atomicfile.Part("b.mkv"), "a.mkv.part"}
	for _, name := range append(slices.Clone(left), stays...) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("unfinished"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.mkv", "%03d.png"} {
		target, err := newTarget(filepath.Join(dir, name), "in.mkv", &WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		target.discard()
	}
	if got := namesIn(t, dir); !slices.Equal(got, stays) {
		t.Errorf("%q, want %q", got, stays)
	}
}

// Numbers below 0 are refused if the files would not be read with them.
func TestNumbersBelowZero(t *testing.T) {
	for name, refused := range map[string]bool{"shot####.png": true, "%04d.png": false, "shot.####.png": false} {
		for _, first := range []int{-3, 0} {
			dir := t.TempDir()
			target, err := newTarget(filepath.Join(dir, name), "in.mkv", &WriterOptions{Number: func(k int) int { return first + k }})
			if err == nil {
				target.discard()
			}
			if want := refused && first < 0; (fault.KindOf(err) == fault.Usage) != want || (err != nil) != want || len(namesIn(t, dir)) > 0 {
				t.Errorf("%s from %d: %v", name, first, err)
			}
		}
	}
}

func TestTargets(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.mkv")
	if err := os.WriteFile(there, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, source string
		overwrite    bool
		want         fault.Kind // 0 if there is no error
		url          string
	}{
		{"", "", false, fault.Usage, ""},
		{"-", "", false, 0, "pipe:1"},
		{dir, "", true, fault.CannotWrite, ""},
		{there, "", false, fault.CannotWrite, ""},
		{there, there, true, fault.Usage, ""},
		{"/dev/null", "", false, 0, "file:/dev/null"},
		{"tcp://127.0.0.1:9", "", false, 0, "tcp://127.0.0.1:9"},
		{filepath.Join(dir, "none", "a.mkv"), "", false, fault.CannotWrite, ""},
		{filepath.Join(there, "a.mkv"), "", false, fault.CannotWrite, ""},
	} {
		target, err := newTarget(c.name, c.source, &WriterOptions{Overwrite: c.overwrite})
		if c.want != 0 {
			if fault.KindOf(err) != c.want {
				t.Errorf("%q: %v", c.name, err)
			}
			continue
		}
		if err != nil || target.url != c.url || target.reread() {
			t.Errorf("%q: %q, %v", c.name, target.url, err)
			continue
		}
		if name, err := target.commit(true); err != nil || name != target.name {
			t.Errorf("%q: %q, %v", c.name, name, err)
		}
	}
}
