package motion

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"retime/flow"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/testdata/posix"
	"retime/warp"
)

// saidCache opens a cache and returns what it logs.
func saidCache(t testing.TB, dir string) (*Cache, *bytes.Buffer) {
	t.Helper()
	said := new(bytes.Buffer)
	c := NewCache(dir, slog.New(slog.NewTextHandler(said, nil)))
	if err := c.open(); err != nil {
		t.Fatal(err)
	}
	return c, said
}

// wantWarnings checks that there is one warning with each of the texts, and no other.
func wantWarnings(t testing.TB, what, said string, texts ...string) {
	t.Helper()
	if n := strings.Count(said, "level=WARN"); n != len(texts) {
		t.Errorf("%s: %d warnings, want %d:\n%s", what, n, len(texts), said)
	}
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("%s: no warning has %q:\n%s", what, text, said)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An entry that differs from what was written is estimated again and replaced, and a warning names
// the first such entry.
func TestFlowCacheDamage(t *testing.T) {
	dir := t.TempDir()
	a, b := grey(7, 5, 1), grey(7, 5, 2)
	methods := []string{"m", "n"}
	e := &countingEstimate{}
	get := func(c *Cache) (list []warp.FlowPair) {
		t.Helper()
		list = make([]warp.FlowPair, len(methods))
		for i, method := range methods {
			must(t, c.pair(method, a, b, &list[i], e.pair(a, b, &list[i])))
		}
		return list
	}
	c := mustCache(t, dir)
	want := get(c)
	if da, db := a.digest(), b.digest(); bytes.Compare(da[:], db[:]) > 0 {
		t.Fatal("the pictures are kept in the other order")
	}
	name := c.name(methods[0], a, b)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	three := new(bytes.Buffer)
	must(t, flow.WriteFields(three, want[0].Forward, want[0].Backward, want[0].Forward))
	spoiled := map[string][]byte{"longer": append(slices.Clone(whole), 0), "another format": []byte("PIEH"), "zeros": make([]byte, len(whole)), "three fields": three.Bytes()}
	for i := range whole {
		spoiled[fmt.Sprint("cut to ", i)] = whole[:i]
		spoiled[fmt.Sprint("byte ", i)] = append(append(slices.Clone(whole[:i]), whole[i]^0x40), whole[i+1:]...)
	}
	for what, data := range spoiled {
		for _, method := range methods {
			if err := os.WriteFile(c.name(method, a, b), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		e.calls = 0
		c, said := saidCache(t, dir)
		for pass := range 2 {
			if got := get(c); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, pass %d: the fields differ", what, pass)
			}
		}
		if e.calls != len(methods) {
			t.Errorf("%s: estimated %d times, want once for each file", what, e.calls)
		}
		wantWarnings(t, what, said.String(), name)
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%s: not replaced: %v", what, err)
		}
	}
	wantFiles(t, dir, len(methods))
}

// A cache that cannot be read or written does not end a run.
func TestFlowCacheFaults(t *testing.T) {
	a, b := grey(7, 5, 1), grey(7, 5, 2)
	var fresh warp.FlowPair
	must(t, (&countingEstimate{}).pair(a, b, &fresh)())
	asUser := func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may read and write everything; run as another user")
		}
	}
	for _, tt := range []struct {
		name     string
		spoil    func(t *testing.T, dir, file string)
		warnings []string
	}{
		{"directory gone", func(t *testing.T, dir, _ string) { must(t, os.RemoveAll(dir)) }, []string{"cannot be kept"}},
		{"directory in place of the file", func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o777))
		}, []string{"cannot be read", "cannot be kept"}},
		{"pipe in place of the file", func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			must(t, posix.Mkfifo(t, file, 0o666))
		}, []string{"is a pipe", "cannot be kept"}},
		{"link to an endless device", func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			must(t, os.Symlink("/dev/zero", file))
		}, []string{"is a device", "cannot be kept"}},
		{"file of another's", func(t *testing.T, _, file string) {
			asUser(t)
			must(t, os.Chmod(file, 0))
		}, []string{"permission denied"}},
		{"read-only directory", func(t *testing.T, dir, file string) {
			asUser(t)
			must(t, os.Remove(file))
			must(t, os.Chmod(dir, 0o555))
		}, []string{"permission denied"}},
		{"directory without any rights", func(t *testing.T, dir, _ string) {
			asUser(t)
			must(t, os.Chmod(dir, 0))
		}, []string{"cannot be read", "cannot be kept"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "flows")
			c, said := saidCache(t, dir)
			e := &countingEstimate{}
			get := func() {
				t.Helper()
				var got warp.FlowPair
				must(t, c.pair("m", a, b, &got, e.pair(a, b, &got)))
				if !reflect.DeepEqual(got, fresh) {
					t.Error("the fields differ")
				}
			}
			get()
			tt.spoil(t, dir, c.name("m", a, b))
			defer func() { _ = os.Chmod(dir, 0o777) }() // it may be gone
			get()
			get()
			if e.calls < 2 {
				t.Errorf("estimated %d times", e.calls)
			}
			wantWarnings(t, tt.name, said.String(), tt.warnings...)
			if list, _ := filepath.Glob(filepath.Join(dir, ".*.part")); list != nil {
				t.Errorf("%q is left", list)
			}
		})
	}
	failed := errors.New("no flow")
	var none warp.FlowPair
	if err := mustCache(t, t.TempDir()).pair("m", a, b, &none, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("the estimate fails: error %v", err)
	}
}

func TestFlowCacheDirectory(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	must(t, os.WriteFile(file, nil, 0o666))
	must(t, os.Symlink(filepath.Join(dir, "nowhere"), link))
	for name, want := range map[string]fault.Kind{file: fault.Usage, filepath.Join(file, "flows"): fault.Usage, link: fault.CannotWrite} {
		cache := NewCache(name, slog.New(slog.DiscardHandler))
		for range 2 { // like two workers
			e, err := NewEstimator(t.Context(), Params{Method: DIS, Cache: cache})
			if err == nil {
				e.Close()
			}
			if fault.KindOf(err) != want || !strings.Contains(err.Error(), "Synthesis.FlowCache") {
				t.Errorf("%q: error %v, want kind %d", name, err, want)
			}
		}
	}
}

// Other users may read what the process lets them read.
func TestFlowCachePermissions(t *testing.T) {
	old := posix.Umask(t, 0)
	defer posix.Umask(t, old)
	a := grey(7, 5, 1)
	for umask, want := range map[int]os.FileMode{0o077: 0o600, 0o022: 0o644, 0o002: 0o664} {
		posix.Umask(t, umask)
		dir := filepath.Join(t.TempDir(), "flows")
		c := mustCache(t, dir)
		var got warp.FlowPair
		must(t, c.pair("m", a, a, &got, (&countingEstimate{}).pair(a, a, &got)))
		if info, err := os.Stat(c.name("m", a, a)); err != nil || info.Mode() != want {
			t.Errorf("umask %03o: %v, want %v: %v", umask, info.Mode(), want, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777&^os.FileMode(umask) {
			t.Errorf("umask %03o: directory %v: %v", umask, info.Mode(), err)
		}
	}
}

// Opening a cache removes the file that a killed run was writing, but not the file that a live one
// is writing.
func TestFlowCacheLeftovers(t *testing.T) {
	dir := t.TempDir()
	a := grey(7, 5, 1)
	name := mustCache(t, dir).name("m", a, a)
	live, err := atomicfile.Create(name)
	must(t, err)
	defer live.Discard()
	killed := atomicfile.Part(name)
	must(t, os.WriteFile(killed, []byte("FLOW"), 0o666))
	mustCache(t, dir)
	if _, err := os.Stat(killed); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left is there: %v", err)
	}
	if _, err := os.Stat(live.Name()); err != nil {
		t.Error(err)
	}
}
