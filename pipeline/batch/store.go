package batch

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"

	"retime/pipeline/fault"
)

// record is what is kept of a job, under its output's canonical name.
type record struct {
	State    State     `json:"state"`
	Inputs   string    `json:"inputs"`   // Job.inputs when it began
	Settings string    `json:"settings"` // Job.settings
	Output   stamp     `json:"output"`   // as it was written last
	Owned    bool      `json:"owned"`    // whatever is at the output's name was written by the batch
	Error    string    `json:"error,omitempty"`
	Code     int       `json:"code,omitempty"` // a fault.Kind
	Frames   int64     `json:"frames"`
	Made     int64     `json:"made"`
	Seconds  float64   `json:"seconds"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
}

// upToDate says whether j is done, and would come out the same.
func (r *record) upToDate(j *Job) bool {
	return r.State == Done && r.Inputs == j.inputs() && r.Settings == j.settings() && r.Output.equal(stampOf(j.Output))
}

// owns says whether the output that is there was written by the batch: it is as
// it was written, or came while a job ran that was then killed.
func (r *record) owns(j *Job) bool {
	return r.State == Running && r.Owned || r.Output.exists() && r.Output.equal(stampOf(j.Output))
}

const (
	stateFile = "state.db"
	lockFile  = "lock"
	logDir    = "logs"
)

// bucket holds the records. Its name is the schema's.
var bucket = []byte("retime.batch/1")

// patience is how long to wait for another process that reads or writes a record.
const patience = 10 * time.Second

// store keeps records in a database that is open only while it is read or
// written, so that others can look at it. Its lock is held throughout.
type store struct {
	dir  string
	lock *os.File
	// mu is held by the job that writes. The database's own lock is tried now and then,
	// in no order, and one of many jobs might find it taken until its patience ends.
	mu sync.Mutex
}

func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(filepath.Join(dir, logDir), 0o777); err != nil {
		return nil, fault.New(fault.CannotWrite, "state of the batch: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "state of the batch: %w", err)
	}
	if err := lockWhole(lock); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fault.New(fault.TryAgain, "this batch is running already, with its state in %q; --status shows it", dir)
		}
		return nil, fault.New(fault.CannotWrite, "lock %q: %w", lock.Name(), err)
	}
	return &store{dir: dir, lock: lock}, nil
}

// lockWhole locks f for this process alone. What asks whether it is locked holds it for
// a moment itself.
func lockWhole(f *os.File) (err error) {
	for range 20 {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		time.Sleep(25 * time.Millisecond)
	}
	return err
}

// locked says whether a process works on the batch in dir.
func locked(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

func (s *store) close() { s.lock.Close() }

// database opens the state in dir for f.
func database(dir string, readOnly bool, f func(*bbolt.DB) error) (err error) {
	name := filepath.Join(dir, stateFile)
	kind := fault.CannotWrite
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil { // bbolt takes what it reads to be sound
			err, kind = fmt.Errorf("the file is damaged: %v", p), fault.BadData
		}
		if err != nil {
			err = fault.New(kind, "state of the batch in %q: %w", name, err)
		}
	}()
	db, err := bbolt.Open(name, 0o666, &bbolt.Options{Timeout: patience, ReadOnly: readOnly})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && readOnly {
			return nil
		}
		return err
	}
	defer db.Close()
	return f(db)
}

// readRecords returns all records in dir by key; none where there is no state, or a file
// without anything, which it is for a moment when it is made.
func readRecords(dir string) (map[string]record, error) {
	records := map[string]record{}
	if info, err := os.Stat(filepath.Join(dir, stateFile)); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return records, nil
	}
	err := database(dir, true, func(db *bbolt.DB) error {
		return db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucket)
			if b == nil {
				return nil
			}
			return b.ForEach(func(k, v []byte) error {
				var r record
				if err := json.Unmarshal(v, &r); err != nil {
					return fmt.Errorf("record of %q: %w", k, err)
				}
				records[string(k)] = r
				return nil
			})
		})
	})
	return records, err
}

func (s *store) read() (map[string]record, error) { return readRecords(s.dir) }

// put keeps r for good once it returns nil.
func (s *store) put(key string, r record) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return database(s.dir, false, func(db *bbolt.DB) error {
		return db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(bucket)
			if err != nil {
				return err
			}
			return b.Put([]byte(key), value)
		})
	})
}

// clear forgets all records.
func (s *store) clear() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return database(s.dir, false, func(db *bbolt.DB) error {
		return db.Update(func(tx *bbolt.Tx) error {
			if tx.Bucket(bucket) == nil {
				return nil
			}
			return tx.DeleteBucket(bucket)
		})
	})
}

// logName is the file for the messages of the job with that key.
func (s *store) logName(key string) string { return logName(s.dir, key) }

func logName(dir, key string) string {
	base := filepath.Base(key)
	for len(base) > 200 { // file names are at most 255 bytes long
		base = strings.ToValidUTF8(base[:200], "")
	}
	return filepath.Join(dir, logDir, fmt.Sprintf("%s-%.8x.log", base, sha256.Sum256([]byte(key))))
}

// log is a job's messages. A log that cannot be written must not stop the work.
type log struct{ file *os.File }

func (s *store) createLog(key string) log {
	f, _ := os.Create(s.logName(key))
	return log{f}
}

func (l log) Write(p []byte) (int, error) {
	if l.file != nil {
		_, _ = l.file.Write(p)
	}
	return len(p), nil
}

// finish ends the log with what became of the job.
func (l log) finish(err error) {
	if err != nil {
		fmt.Fprintln(l, "retime: error:", err)
	}
	if l.file != nil {
		l.file.Close()
	}
}
