package atomicfile

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// identity names the machine. Windows' locks are seen by every process at any time, so that
// no boot needs a name.
func identity() (id, boot string, since time.Time) {
	if k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY); err == nil {
		id, _, _ = k.GetStringValue("MachineGuid")
		k.Close()
	}
	return id, "", time.Now().Add(-windows.DurationSinceBoot())
}

// openFile opens a file or a directory so that it may be renamed and removed as others share it.
func openFile(name string, access, share, disposition uint32) (*os.File, error) {
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	h, err := windows.CreateFile(p, access, share, nil, disposition, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

const (
	readWrite = windows.GENERIC_READ | windows.GENERIC_WRITE
	shareAll  = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
)

func createPart(name string) (*os.File, error) {
	return openFile(name, readWrite, shareAll, windows.CREATE_NEW)
}

// A lock lies where no file has bytes: Windows keeps others from reading and writing what is locked.
func lock(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// lockPart locks a part. If the file system has no locks, Sweep removes nothing.
func lockPart(f *os.File) { _ = lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// openUnlocked opens and locks a part that no process has locked.
func openUnlocked(name string) (*os.File, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openDir(name, false)
	}
	f, err := openFile(name, readWrite, shareAll, windows.OPEN_EXISTING)
	if err != nil {
		return nil, err
	}
	if err := lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A wait for what others hold looks again after a pause.
const pause = 10 * time.Millisecond

// openDir opens and locks a directory. Directories have no locks: whoever opens one to add files,
// and shares that with nobody, is alone with that; files come and go by their names all the same.
func openDir(dir string, wait bool) (*os.File, error) {
	for {
		f, err := openFile(dir, windows.FILE_LIST_DIRECTORY|windows.FILE_WRITE_DATA, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, windows.OPEN_EXISTING)
		switch {
		case !errors.Is(err, windows.ERROR_SHARING_VIOLATION):
			return f, err
		case !wait:
			return nil, ErrLocked
		}
		time.Sleep(pause)
	}
}

// tries bounds the waits for those who hold a file for a moment: who asks whether it is locked, or
// a scanner of viruses.
const tries = 100

func lockFile(f *os.File) (err error) {
	for range tries {
		if err = lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY); !errors.Is(err, windows.ERROR_LOCK_VIOLATION) && !errors.Is(err, windows.ERROR_IO_PENDING) {
			return err
		}
		time.Sleep(pause)
	}
	return ErrLocked
}

// locked takes the lock for a moment, which lockFile waits for.
func locked(f *os.File) bool {
	if err := lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY); err != nil {
		return true
	}
	unlock(f)
	return false
}

// busy reports whether err may be gone in a moment: somebody reads or replaces the file.
func busy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

func rename(from, to string) (err error) {
	for range tries {
		if err = os.Rename(from, to); !busy(err) {
			return err
		}
		time.Sleep(pause)
	}
	return err
}

func renameNoReplace(from, to string) error {
	a, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	b, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	for range tries {
		if err = windows.MoveFileEx(a, b, 0); !busy(err) {
			return err
		}
		time.Sleep(pause)
	}
	return err
}

// openToSync opens for writing, too, as only such a file can be put on disk.
func openToSync(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR, 0) }

// syncDirectory does nothing: file systems of Windows keep a journal of names.
func syncDirectory(*os.File) error { return nil }

// Fold returns name as names are compared: without the difference of capitals.
func Fold(name string) string { return strings.ToLower(name) }

// Identity returns what a regular file has in common with its other names: the number of its
// volume, and the file's in it. info is what os.Stat says of name.
func Identity(name string, info os.FileInfo) (device, inode uint64, ok bool) {
	if !info.Mode().IsRegular() {
		return 0, 0, false
	}
	f, err := openFile(name, 0, shareAll, windows.OPEN_EXISTING)
	if err != nil {
		return 0, 0, false
	}
	defer f.Close()
	var d windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &d) != nil {
		return 0, 0, false
	}
	return uint64(d.VolumeSerialNumber), uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow), true
}

// replaceable returns why the file called name cannot be replaced, which would show only when that
// is tried, at the end. info is what os.Stat says of it.
func replaceable(name string, info os.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 {
		return errors.New("exists, and is read-only")
	}
	var err error
	for range tries {
		var f *os.File
		if f, err = openFile(name, windows.DELETE, shareAll, windows.OPEN_EXISTING); err == nil {
			return f.Close()
		} else if !busy(err) {
			return nil
		}
		time.Sleep(pause)
	}
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return errors.New("exists, and may not be replaced")
	}
	return errors.New("exists, and another program has it open")
}

// StandardInput returns a name by which what standard input is read from can be opened again, or
// an empty one if it is not a file.
func StandardInput() string {
	h, err := windows.GetStdHandle(windows.STD_INPUT_HANDLE)
	if err != nil {
		return ""
	}
	if kind, err := windows.GetFileType(h); err != nil || kind != windows.FILE_TYPE_DISK {
		return ""
	}
	name := make([]uint16, 1<<15)
	n, err := windows.GetFinalPathNameByHandle(h, &name[0], uint32(len(name)), 0)
	if err != nil || int(n) >= len(name) {
		return ""
	}
	path := strings.TrimPrefix(windows.UTF16ToString(name[:n]), `\\?\`)
	if share, ok := strings.CutPrefix(path, `UNC\`); ok {
		return `\\` + share
	}
	return path
}

// DiskFull reports whether err says that there is no space left for a file.
func DiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) || errors.Is(err, syscall.ENOSPC)
}

// Lend gives a file another name, for somebody who reads it there: a link, or where Windows allows
// this user none, or the file system has none, a copy.
func Lend(file, name string) error {
	if os.Link(file, name) == nil || os.Symlink(file, name) == nil {
		return nil
	}
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err = io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}
