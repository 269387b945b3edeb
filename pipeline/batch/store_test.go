package batch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// storeEnv names the directory in which a child process puts records.
const storeEnv = "RETIME_TEST_STORE"

// TestMain puts records until it is killed, if storeEnv is set.
func TestMain(m *testing.M) {
	if dir := os.Getenv(storeEnv); dir != "" {
		fmt.Fprintln(os.Stderr, putForever(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

var storeKeys = []string{"/a", "/b", "/" + strings.Repeat("long name ☂", 40)}

// putForever saves records with rising Frames, and prints each number after the record is saved.
// The error's text makes records of different lengths.
func putForever(dir string) error {
	s, err := openStore(dir)
	if err != nil {
		return err
	}
	for n := int64(1); ; n++ {
		for _, key := range storeKeys {
			if err := s.put(key, record{State: Failed, Frames: n, Error: strings.Repeat("x", int(n*7919%9000))}); err != nil {
				return err
			}
		}
		fmt.Println(n)
	}
}

// A kill at any moment leaves the last record that was saved, or a later one, and
// nothing else.
func TestStoreKilled(t *testing.T) {
	dir := t.TempDir()
	for kill := range 5 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), storeEnv+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		var kept int64
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if kept, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				t.Fatal(err)
			}
			if kept > int64(kill) {
				_ = child.Process.Kill() // read on: the child may have saved more
			}
		}
		_ = child.Wait()
		records, err := readRecords(dir, storeKeys)
		if err != nil || len(records) != len(storeKeys) || kept == 0 {
			t.Fatalf("%d records, %v, after %d", len(records), err, kept)
		}
		for key, r := range records {
			if r.Frames != kept && r.Frames != kept+1 {
				t.Errorf("the record of %.10s has %d, and %d was kept last", key, r.Frames, kept)
			}
		}
	}
	s, err := openStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	entries, err := os.ReadDir(filepath.Join(dir, recordDir))
	if err != nil || len(entries) != len(storeKeys) {
		t.Errorf("%d files, %v: want a record for each of %d jobs", len(entries), err, len(storeKeys))
	}
}

// Other processes always read whole records, each as it was at their first look or later.
func TestStoreWhileItChanges(t *testing.T) {
	s, err := openStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var keys []string
	var writers sync.WaitGroup
	var left atomic.Int32
	for i := range 4 {
		key := fmt.Sprintf("/clip %d", i)
		keys = append(keys, key)
		if err := s.put(key, record{State: Pending}); err != nil {
			t.Fatal(err)
		}
		left.Add(1)
		writers.Go(func() {
			defer left.Add(-1)
			for n := range 50 {
				if err := s.put(key, record{State: Failed, Error: strings.Repeat("x", 100*n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for left.Load() > 0 {
		if records, err := readRecords(s.dir, keys); err != nil || len(records) != len(keys) {
			t.Errorf("%d records, %v", len(records), err)
			break
		}
	}
	writers.Wait()
}

// A kill may leave a record that never got its final name.
func TestUnfinishedRecord(t *testing.T) {
	f := newFixture(t, "a", "b")
	if err := os.MkdirAll(filepath.Join(f.Dir, recordDir), 0o777); err != nil {
		t.Fatal(err)
	}
	keys, err := checkFiles(f.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	unfinished := atomicfile.Part(recordName(f.Dir, keys[0]))
	if err := os.WriteFile(unfinished, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, _ = f.run(t.Context(), 2, Summary{Done: 2})
	if _, err := os.Stat(unfinished); err == nil {
		t.Error("the unfinished record is still there")
	}
}

func TestDamagedState(t *testing.T) {
	f := newFixture(t, names(30)...)
	_, _ = f.run(t.Context(), 30, Summary{Done: 30})
	keys, err := checkFiles(f.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	name, other := recordName(f.Dir, keys[7]), recordName(f.Dir, keys[8])
	sound, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	another, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	f.Resume = true
	spoilt := make([]byte, len(sound))
	for i, b := range sound {
		spoilt[i] = b ^ 0x55
	}
	for _, c := range []struct{ data, want string }{
		{"", "damaged"},
		{"no record", "damaged"},
		{string(spoilt), "damaged"},
		{string(sound[:len(sound)/2]), "damaged"},
		{string(sound) + string(sound), "damaged"},
		{string(another), "damaged"},
		{strings.Replace(string(sound), `"done"`, `"gone"`, 1), "damaged"},
		{strings.Replace(string(sound), `"version":1`, `"version":2`, 1), "version is 2"},
	} {
		if err := os.WriteFile(name, []byte(c.data), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), f.Options)
		if fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), filepath.Base(name)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.data, err)
		}
		if _, err := ReadStatus(f.Options); fault.KindOf(err) != fault.BadData {
			t.Errorf("the status of %q: %v", c.data, err)
		}
	}
	// The error says what to do, and only that clip is done again; its output stays
	// until Overwrite allows its replacement.
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	_, _ = f.run(t.Context(), 0, Summary{Skipped: 29, Failed: 1})
	f.Overwrite = true
	_, _ = f.run(t.Context(), 1, Summary{Done: 1, Skipped: 29})
}

// A record that cannot be written stops the batch before the job begins.
func TestRecordThatCannotBeWritten(t *testing.T) {
	f := newFixture(t, names(4)...)
	f.Parallel = 1
	keys, err := checkFiles(f.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	name, first := recordName(f.Dir, keys[1]), f.Jobs[0].Convert
	f.Jobs[0].Convert = func(ctx context.Context, r Resources) (*pipeline.Report, error) {
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Error(err)
		}
		return first(ctx, r)
	}
	s, err := f.run(t.Context(), 1, Summary{Done: 1, Pending: 3})
	if fault.KindOf(err) != fault.CannotWrite || !strings.Contains(err.Error(), name) {
		t.Errorf("the error is %v", err)
	}
	if s.Outcomes[1].State != Pending || s.Outcomes[1].Err == nil {
		t.Errorf("the second clip is %+v", s.Outcomes[1])
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	f.Jobs[0].Convert, f.Resume = first, true
	if _, err := f.run(t.Context(), 3, Summary{Done: 3, Skipped: 1}); err != nil {
		t.Error(err)
	}
}
