package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// record is the content of a job's file in the store.
type record struct {
	Version  int       `json:"version"` // recordVersion
	Key      string    `json:"key"`     // canonical name of the job's output
	State    State     `json:"state"`
	Inputs   string    `json:"inputs"`   // Job.inputs at the beginning
	Settings string    `json:"settings"` // Job.settings at the beginning
	Output   stamp     `json:"output"`   // as the batch last wrote it
	Writes   []stamp   `json:"writes"`   // the same for Job.Writes
	Owned    bool      `json:"owned"`    // the batch wrote whatever exists under these names
	Error    string    `json:"error,omitempty"`
	Code     int       `json:"code,omitempty"` // a fault.Kind
	Frames   int64     `json:"frames"`
	Made     int64     `json:"made"`
	Seconds  float64   `json:"seconds"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
}

const recordVersion = 1

// maxRecord bounds the size of a record's file in bytes.
const maxRecord = 1 << 22

// upToDate reports whether j is done and would come out the same again.
func (r *record) upToDate(j *Job) bool {
	return r.State == Done && r.Inputs == j.inputs() && r.Settings == j.settings() && r.Output.equal(stampOf(j.Output))
}

// foreign returns the name of a file that j writes but the batch did not: a file that has changed
// since the batch wrote it, and that no killed job can have written. exist reports whether any of
// j's files exists.
func (r *record) foreign(j *Job) (name string, exist bool) {
	was := append([]stamp{r.Output}, r.Writes...)
	for i, is := range append([]stamp{stampOf(j.Output)}, j.written()...) {
		if !is.exists() {
			continue
		}
		exist = true
		if own := r.State == Running && r.Owned || i < len(was) && was[i].equal(is); !own && name == "" {
			name = append([]string{j.Output}, j.Writes...)[i]
		}
	}
	return name, exist
}

// The files of a store: its lock, and a record and a log for each job.
const (
	lockFile  = "lock"
	recordDir = "jobs"
	logDir    = "logs"
)

// store keeps a record of each job in a file of its own. It replaces a record
// atomically, so that other processes can read it at any time. It holds a lock until
// close.
type store struct {
	dir  string
	lock *os.File
}

// openStore creates and locks the store in dir, and removes the unfinished files of
// killed processes.
func openStore(dir string) (*store, error) {
	failed := func(err error) error { return fault.New(fault.CannotWrite, "state of the batch: %w", err) }
	for _, sub := range []string{recordDir, logDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return nil, failed(err)
		}
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, failed(err)
	}
	switch err := atomicfile.LockFile(lock); {
	case errors.Is(err, atomicfile.ErrLocked):
		lock.Close()
		return nil, fault.New(fault.TryAgain, "this batch is running already, with its state in %q", dir)
	case err != nil:
		lock.Close()
		return nil, fault.New(fault.CannotWrite, "lock %q: %w", lock.Name(), err)
	}
	if err := atomicfile.Sweep(filepath.Join(dir, recordDir) + string(filepath.Separator)); err != nil {
		lock.Close()
		return nil, failed(err)
	}
	return &store{dir: dir, lock: lock}, nil
}

// locked reports whether a process is working on the batch in dir.
func locked(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	return atomicfile.Locked(f)
}

func (s *store) close() { s.lock.Close() }

// readRecords returns the records in dir of the jobs with the given keys; jobs that never began
// have none. It opens each file by name, because a directory listing may miss files that are
// replaced meanwhile.
func readRecords(dir string, keys []string) (map[string]record, error) {
	records := map[string]record{}
	for _, key := range keys {
		name := recordName(dir, key)
		data, err := plainfile.Read(name, maxRecord)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fault.New(fault.CannotWrite, "state of the batch: %w", err)
		}
		r, err := decodeRecord(data, key)
		if err != nil {
			return nil, fault.New(fault.BadData, "state of the batch in %q: %w; remove the file to begin that clip again", name, err)
		}
		records[key] = r
	}
	return records, nil
}

// decodeRecord reads the record of the job called key.
func decodeRecord(data []byte, key string) (r record, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if err = d.Decode(&r); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("data after the record")
		}
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("the file is damaged: %w", fault.Plain(err))
	case r.Version != recordVersion:
		return r, fmt.Errorf("its version is %d, not %d", r.Version, recordVersion)
	case r.Key != key:
		return r, fmt.Errorf("the file is damaged: it belongs to %q", r.Key)
	}
	switch r.State {
	case Pending, Running, Done, Failed:
		return r, nil
	}
	return r, fmt.Errorf("the file is damaged: unknown state %q", r.State)
}

// begin makes sure that the store holds no records, not even of other jobs. It removes them if
// overwrite is set, and fails otherwise.
func (s *store) begin(overwrite bool) error {
	entries, err := os.ReadDir(filepath.Join(s.dir, recordDir))
	if err != nil {
		return fault.New(fault.CannotWrite, "state of the batch: %w", err)
	}
	if len(entries) > 0 && !overwrite {
		return fault.New(fault.Usage, "a batch was started here, and its state is in %q: Options.Resume continues it, Options.Overwrite starts again", s.dir)
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(s.dir, recordDir, e.Name())); err != nil {
			return fault.New(fault.CannotWrite, "state of the batch: %w", err)
		}
	}
	return nil
}

// put writes r. Once it returns nil, r survives a kill and a loss of power; until then,
// the previous record does.
func (s *store) put(key string, r record) error {
	r.Version, r.Key = recordVersion, key
	data, err := json.Marshal(r)
	if err == nil {
		err = atomicfile.ReplaceFile(recordName(s.dir, key), append(data, '\n'))
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "state of the batch: %w", err)
	}
	return nil
}

func recordName(dir, key string) string { return fileName(dir, recordDir, key, ".json") }

func logName(dir, key string) string { return fileName(dir, logDir, key, ".log") }

// fileName returns the name of the file about the job called key in the store's directory sub.
func fileName(dir, sub, key, suffix string) string {
	base := filepath.Base(key)
	for len(base) > 200 { // a file name has at most 255 bytes
		base = strings.ToValidUTF8(base[:200], "")
	}
	return filepath.Join(dir, sub, fmt.Sprintf("%s-%.8x%s", base, sha256.Sum256([]byte(key)), suffix))
}

// log receives a job's messages. It ignores errors, because a log that cannot be
// written must not stop the work.
type log struct{ file *os.File }

func (s *store) createLog(key string) log {
	f, _ := os.Create(logName(s.dir, key))
	return log{f}
}

func (l log) Write(p []byte) (int, error) {
	if l.file != nil {
		_, _ = l.file.Write(p)
	}
	return len(p), nil
}

// finish writes the result of the job and closes the log.
func (l log) finish(err error) {
	if err != nil {
		fmt.Fprintln(l, "retime: error:", err)
	}
	if l.file != nil {
		l.file.Close()
	}
}
