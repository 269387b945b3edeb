package review

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// mark tells an output that the page has made from others that have its name.
type mark struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// markName is the file in stateDir that holds the mark of the output.
const markName = "output.json"

// maxMark bounds the size of that file in bytes.
const maxMark = 1 << 10

// markOf returns the mark of an output; ok is false if it is no file.
func markOf(output string) (m mark, ok bool) {
	info, err := os.Stat(output)
	if err != nil || !info.Mode().IsRegular() {
		return m, false
	}
	return mark{info.Size(), info.ModTime().UTC()}, true
}

// isOurs reports whether output is as the page has left it.
func isOurs(output string) bool {
	is, ok := markOf(output)
	if !ok {
		return false
	}
	var was mark
	text, err := plainfile.Read(filepath.Join(stateDir(output), markName), maxMark)
	return err == nil && json.Unmarshal(text, &was) == nil && was.Size == is.Size && was.Modified.Equal(is.Modified)
}

// leaveMark makes output the page's, if it is a file.
func leaveMark(output string) error {
	m, ok := markOf(output)
	if !ok {
		return nil
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = atomicfile.ReplaceFile(filepath.Join(stateDir(output), markName), append(text, '\n'))
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "render: %w", err)
	}
	return nil
}
