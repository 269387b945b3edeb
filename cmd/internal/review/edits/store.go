package edits

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"retime/frame"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/pipeline/timeline"
)

// Files are the names of the files of edits.
type Files struct {
	Decisions, Mask, Curve string
	// ReadMask reads a mask.
	ReadMask func(name string) (frame.Image[uint8], error)
}

// Store keeps a State in its files. Its methods may be called from any goroutine. Several stores,
// in one process or in many, may have the same files: none undoes what another has saved.
type Store struct {
	files   Files
	replace func(name string, text []byte) error // writes through links

	// changing is held by whoever changes what follows, or uses the files. It comes before mu,
	// which is never held for long.
	changing     sync.Mutex
	seen         [3]sum // what is on disk, as far as the Store knows
	mu           sync.Mutex
	now          State
	past, future []State
	version      int64
}

// sum is the hash of a file; zero if there is none.
type sum [sha256.Size]byte

// maxSteps bounds what can be undone.
const maxSteps = 200

// maxFile bounds the files in bytes.
const maxFile = 1 << 28

// ErrElsewhere says that a file was changed by somebody else, and that nothing was written.
var ErrElsewhere = errors.New("was changed elsewhere; nothing was written over it")

// Open reads the files that are there.
func Open(files Files) (*Store, error) {
	s := &Store{files: files, replace: func(name string, text []byte) error { return atomicfile.WriteFile(name, true, text) }}
	for _, name := range s.names() {
		if err := atomicfile.Sweep(name); err != nil {
			return nil, fault.New(fault.CannotWrite, "edits: %w", err)
		}
	}
	defer s.lock()()
	var err error
	s.now, s.seen, err = s.read()
	return s, err
}

func (s *Store) names() [3]string { return [3]string{s.files.Decisions, s.files.Mask, s.files.Curve} }

// content reads a file; nil if there is none.
func content(name string) ([]byte, error) {
	b, err := plainfile.Read(name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.NoInput, "%w", err)
	}
	return b, nil
}

func sumOf(b []byte) sum {
	if len(b) == 0 {
		return sum{}
	}
	return sha256.Sum256(b)
}

// read reads all files.
func (s *Store) read() (state State, seen [3]sum, err error) {
	var texts [3][]byte
	for i, name := range s.names() {
		if texts[i], err = content(name); err != nil {
			return state, seen, err
		}
		seen[i] = sumOf(texts[i])
	}
	wrong := func(i int, err error) (State, [3]sum, error) {
		return state, seen, fault.New(fault.KindOf(err), "%q: %w", s.names()[i], err)
	}
	if len(texts[0]) > 0 {
		lines, err := readLines(texts[0])
		if err != nil {
			return wrong(0, err)
		}
		state = state.with(lines)
	}
	if len(texts[1]) > 0 {
		if state.Mask, err = s.files.ReadMask(s.files.Mask); err != nil {
			return wrong(1, err)
		}
	}
	if len(texts[2]) > 0 {
		if _, err := timeline.ParseKeyframes(bytes.NewReader(texts[2])); err != nil {
			return wrong(2, err)
		}
		state.Curve = string(texts[2])
	}
	return state, seen, nil
}

// State returns what is decided, and the number of edits so far.
func (s *Store) State() (State, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.version
}

// Steps returns how many edits can be undone, and done again.
func (s *Store) Steps() (undo, redo int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.past), len(s.future)
}

// Do makes an edit and saves it. accept is asked before anything is saved, and may refuse. If a
// file was changed elsewhere, Do saves nothing and returns an error that wraps ErrElsewhere.
func (s *Store) Do(edit func(State) (State, error), accept func(was, is State) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	next, err := edit(s.now)
	if err != nil {
		return err
	}
	return s.move(next, append(s.past, s.now), nil, accept)
}

// Undo goes back a step.
func (s *Store) Undo(accept func(was, is State) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	n := len(s.past) - 1
	if n < 0 {
		return nil
	}
	return s.move(s.past[n], s.past[:n], append(s.future, s.now), accept)
}

// Redo goes on a step that was undone.
func (s *Store) Redo(accept func(was, is State) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	n := len(s.future) - 1
	if n < 0 {
		return nil
	}
	return s.move(s.future[n], append(s.past, s.now), s.future[:n], accept)
}

// become makes next the state, between past and future.
func (s *Store) become(next State, past, future []State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.past, s.future = next, past[max(len(past)-maxSteps, 0):], future
	s.version++
}

// move saves next and makes it the state.
func (s *Store) move(next State, past, future []State, accept func(was, is State) error) error {
	defer s.lock()()
	if err := s.elsewhere(); err != nil {
		return err
	}
	if accept != nil {
		if err := accept(s.now, next); err != nil {
			return err
		}
	}
	if err := s.save(next); err != nil {
		if accept != nil {
			err = errors.Join(err, accept(next, s.now)) // as it was
		}
		return err
	}
	s.become(next, past, future)
	return nil
}

// save writes the files that differ: all, or, after an error, none. If a file that was written
// cannot be put back, the error says so.
func (s *Store) save(next State) error {
	was, err := s.now.texts()
	if err != nil {
		return err
	}
	is, err := next.texts()
	if err != nil {
		return err
	}
	if name := s.files.Mask; !bytes.Equal(was[1], is[1]) && !strings.EqualFold(filepath.Ext(name), ".png") {
		return fault.New(fault.Usage, "%q: masks are saved as PNG; name a .png file", name)
	}
	var before [3][]byte // what the files that differ hold, which need not be was
	for i, name := range s.names() {
		if bytes.Equal(was[i], is[i]) {
			continue
		}
		if before[i], err = content(name); err == nil {
			err = s.put(i, is[i])
		}
		if err != nil {
			for k := range i {
				if bytes.Equal(was[k], is[k]) {
					continue
				}
				if left := s.putBack(k, before[k]); left != nil {
					err = fmt.Errorf("%w; %w", err, left)
				}
			}
			return fault.New(fault.CannotWrite, "%w", err)
		}
	}
	return nil
}

// putBack gives file i its content from before an edit again.
func (s *Store) putBack(i int, text []byte) error {
	if err := s.put(i, text); err != nil {
		return fmt.Errorf("%q holds the edit already, and cannot be put back: %w", s.names()[i], err)
	}
	return nil
}

// put writes file i, or removes it if it is to hold nothing. A file that a power failure may
// undo counts as written: all who read it see the edit.
func (s *Store) put(i int, text []byte) error {
	name := s.names()[i]
	var err error
	if len(text) > 0 {
		if err = s.replace(name, text); errors.Is(err, atomicfile.ErrNotOnDisk) {
			err = nil
		}
	} else if name, err = atomicfile.Follow(name); err == nil {
		if err = os.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		s.seen[i] = sumOf(text)
	}
	return err
}

// texts returns the contents of the files.
func (s State) texts() (t [3][]byte, err error) {
	t[0], t[2] = s.decisionsFile(), []byte(s.Curve)
	t[1], err = s.maskFile()
	return t, err
}

// elsewhere returns an error that wraps ErrElsewhere if a file is not what was written or read
// last.
func (s *Store) elsewhere() error {
	for i, name := range s.names() {
		b, err := content(name)
		if err != nil {
			return err
		}
		if sumOf(b) != s.seen[i] {
			return fault.New(fault.TryAgain, "%q %w", name, ErrElsewhere)
		}
	}
	return nil
}

// Elsewhere returns an error that wraps ErrElsewhere if somebody else changed a file.
func (s *Store) Elsewhere() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	defer s.lock()()
	return s.elsewhere()
}

// Reload takes over the files as they are; the state before can be had again by Undo.
func (s *Store) Reload(accept func(was, is State) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	defer s.lock()()
	next, seen, err := s.read()
	if err != nil {
		return err
	}
	next.Preset, next.Shutter = s.now.Preset, s.now.Shutter
	if accept != nil {
		if err := accept(s.now, next); err != nil {
			return err
		}
	}
	s.seen = seen
	s.become(next, append(s.past, s.now), nil)
	return nil
}
