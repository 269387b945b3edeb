package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
)

// Sweep removes the unfinished files and directories that killed processes of this machine
// have left of name, which it follows if it is a link. If name ends in a separator, it removes those of all
// names in that directory.
func Sweep(name string) error {
	name, err := Follow(name)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir + ".")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var failed error
	for _, e := range entries {
		host, boot, ok := parsePart(e.Name(), base)
		if !ok || !e.Type().IsRegular() && !e.IsDir() {
			continue
		}
		if info, err := e.Info(); err == nil && here().outlived(host, boot, info.ModTime()) {
			if err := removeUnlocked(filepath.Join(dir, e.Name())); err != nil {
				failed = err
			}
		}
	}
	return failed
}

// parsePart returns the machine whose process has created the part of that name. ok is false
// unless it is a name that Part gives for base or, if base is empty, for any file.
func parsePart(name, base string) (host, boot string, ok bool) {
	name, first := strings.CutPrefix(name, ".")
	name, last := strings.CutSuffix(name, suffix)
	dot := strings.LastIndexByte(name, '.')
	if !first || !last || dot < 0 || base != "" && name[:dot] != base {
		return "", "", false
	}
	digits := name[dot+1:]
	if len(digits) != 20 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", "", false
	}
	return digits[:6], digits[6:12], true
}

// removeUnlocked removes a file or a directory that no process has locked. It skips one
// that is gone or that it cannot open.
func removeUnlocked(name string) error {
	f, err := openUnlocked(name)
	if err != nil {
		return nil //nolint:nilerr // another process may have swept it
	}
	defer f.Close()
	return os.RemoveAll(name)
}
