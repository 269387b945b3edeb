//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// identity names the machine, and its boot and when that was.
func identity() (id, boot string, since time.Time) {
	machine, _ := os.ReadFile("/etc/machine-id")
	random, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) == nil {
		since = time.Now().Add(-time.Duration(s.Uptime) * time.Second)
	}
	return string(machine), string(random), since
}

func createPart(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// lockPart locks a part. If the file system has no locks, Sweep removes nothing.
func lockPart(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// openUnlocked opens and locks a part that no process has locked.
func openUnlocked(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0) // NFS locks only files that are open for writing
	if errors.Is(err, syscall.EISDIR) {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openDir opens and locks a directory.
func openDir(dir string, wait bool) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), how)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, ErrLocked
	}
	return f, nil
}

func lockFile(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrLocked
	}
	return err
}

// locked takes no lock itself, so that it keeps no process from working.
func locked(f *os.File) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l) == nil && l.Type != unix.F_UNLCK
}

func rename(from, to string) error { return os.Rename(from, to) }

func renameNoReplace(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}

func openToSync(name string) (*os.File, error) { return os.Open(name) }

func syncDirectory(d *os.File) error { return d.Sync() }

// Fold returns name as names are compared: as it is.
func Fold(name string) string { return name }

// Identity returns what a regular file has in common with its other names: the file system's
// number, and the file's in it. info is what os.Stat says of name.
func Identity(_ string, info os.FileInfo) (device, inode uint64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return 0, 0, false
	}
	return uint64(s.Dev), s.Ino, true
}

// replaceable returns nil: a file can be replaced whatever others do with it.
func replaceable(string, os.FileInfo) error { return nil }

// StandardInput returns a name by which what standard input is read from can be opened again.
func StandardInput() string { return "/dev/stdin" }

// DiskFull reports whether err says that there is no space left for a file.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Lend gives a file another name, for somebody who reads it there.
func Lend(file, name string) error { return os.Symlink(file, name) }
