// Package generated writes the files of the generators that make generate runs.
package generated

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Write writes text to a file or, if check is set, returns an error unless the file holds text.
func Write(name string, text []byte, check bool) error {
	now, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case err == nil && bytes.Equal(now, text):
		return nil
	case check:
		return fmt.Errorf("%s is not current; run make generate", name)
	}
	return os.WriteFile(name, text, 0o644)
}
