// Package plainfile opens the files that a user hands over beside a video, such as job
// files, curves, masks and plans. It refuses what has no end, or may keep its reader
// waiting for ever, and whatever is larger than its reader expects.
package plainfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Unlimited is a limit for Open that no file exceeds.
const Unlimited = 1<<63 - 1

// File is a regular file that is open for reading. It ends where the file ended when
// Open opened it.
type File struct {
	*io.SectionReader
	file *os.File
}

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// SHA256 reads the file through, unless ctx ends, and returns the hash of what it holds, in hexadecimal.
func (f *File) SHA256(ctx context.Context) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, interruptible{ctx, f.SectionReader})
	return hex.EncodeToString(h.Sum(nil)), err
}

// interruptible fails once ctx has ended.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// Open opens the regular file called name, which may be a link to one. It refuses
// directories, pipes, sockets, devices, and files of more than limit bytes. Every error
// is a *fs.PathError, which wraps the system's error if there is one.
func Open(name string, limit int64) (*File, error) {
	// Some devices act as soon as they are opened.
	info, err := os.Stat(name)
	if err != nil {
		return nil, opening(name, err)
	}
	if err := check(info, limit); err != nil {
		return nil, opening(name, err)
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(info, limit)
	}
	if err != nil {
		f.Close()
		return nil, opening(name, err)
	}
	return &File{io.NewSectionReader(f, 0, info.Size()), f}, nil
}

// OpenText is Open for a text in UTF-8. It passes over the byte order mark that some editors begin with.
func OpenText(name string, limit int64) (*File, error) {
	const mark = "\uFEFF"
	f, err := Open(name, limit)
	if err != nil {
		return nil, err
	}
	if head := make([]byte, len(mark)); f.Size() >= int64(len(mark)) {
		if _, err := f.ReadAt(head, 0); err == nil && string(head) == mark {
			f.SectionReader = io.NewSectionReader(f.file, int64(len(mark)), f.Size()-int64(len(mark)))
		}
	}
	return f, nil
}

// Read returns the content of the text called name; see OpenText.
func Read(name string, limit int64) ([]byte, error) {
	f, err := OpenText(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// opening returns err as an error of opening name.
func opening(name string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

func check(info fs.FileInfo, limit int64) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return errors.New("is a directory; name a file")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a pipe; write what it carries to a file, and name that")
	case !mode.IsRegular():
		return errors.New("is a device or a socket; name a file")
	case info.Size() > limit:
		return fmt.Errorf("has %d bytes; at most %d are read", info.Size(), limit)
	}
	return nil
}
