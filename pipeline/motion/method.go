package motion

import (
	"path/filepath"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/media/sequence"
)

// Method names the source of optical flow: an estimator, or the prefix FromFiles or FromCommand
// followed by a pattern or a command line.
type Method string

// The estimators. A build without OpenCV (tag noopencv) has DIS alone.
const (
	DIS       Method = "dis"        // dense inverse search; the same flow on every machine
	OpenCVDIS Method = "opencv-dis" // OpenCV's dense inverse search
	Farneback Method = "farneback"  // OpenCV's polynomial expansion
)

// The prefixes for flow from elsewhere. After FromFiles comes a pattern of file names, such as
// flow/%05d.flo: for n from 0, a file holds the flow from picture n to picture n+1 in the .flo
// format. After FromCommand comes a line for /bin/sh that starts a process to estimate flow.
// docs/flow.md describes both.
const (
	FromFiles   = "files="
	FromCommand = "command="
)

// Check returns a fault.Usage error if m names no source of flow.
func (m Method) Check() error {
	pattern, files := m.Files()
	line, command := m.Command()
	switch {
	case files && sequence.HasView(pattern):
		return fault.New(fault.Usage, "Synthesis.Flow %s: %%V stands for a view, such as left or right; write its name", m)
	case files && !numbered(pattern):
		return fault.New(fault.Usage, "Synthesis.Flow %s: want one number in the name, as in %sflow/%%05d.flo", m, FromFiles)
	case files && strings.EqualFold(filepath.Ext(pattern), ".exr"):
		return fault.New(fault.Usage, "Synthesis.Flow %s: flow is read from .flo files, and vectors in OpenEXR are only written", m)
	case command && strings.TrimSpace(line) == "":
		return fault.New(fault.Usage, "Synthesis.Flow %s: name the command", m)
	case files, command, m == DIS, m == OpenCVDIS, m == Farneback:
		return nil
	}
	return fault.New(fault.Usage, "Synthesis.Flow %s: choose from %s, %s, %s, %sPATTERN, %sLINE", m, DIS, OpenCVDIS, Farneback, FromFiles, FromCommand)
}

// numbered reports whether a name has one number.
func numbered(name string) bool {
	_, ok := sequence.Parse(name)
	return ok
}

// Files returns the pattern of the files that hold the flow; ok is false for other methods.
func (m Method) Files() (pattern string, ok bool) { return strings.CutPrefix(string(m), FromFiles) }

// Command returns the line that starts the estimating process; ok is false for other methods.
func (m Method) Command() (line string, ok bool) { return strings.CutPrefix(string(m), FromCommand) }
