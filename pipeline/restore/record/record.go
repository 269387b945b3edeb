// Package record writes what a restoration did, for people and for archives: a page with pictures, the
// same as JSON, and lists of hashes of all frames that other programs can check.
package record

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"retime/internal/shell"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/pipeline/restore"
)

// Files are the names of what Write writes into a directory.
var Files = []string{"report.html", "report.json", "input.framemd5", "output.framemd5", "premis.xml", bagDeclaration, bagInfo, bagManifest}

// Job is a restoration that is done.
type Job struct {
	Options restore.Options // as they were given
	Output  string          // the file that was written
	Entries []restore.Entry // of all frames that were made
	Command []string
	Version string // of the program
	Ended   time.Time
}

// Report is what Write writes as JSON.
type Report struct {
	Command string `json:"command"`
	Version string `json:"version"`
	Input   File   `json:"input"`
	Output  File   `json:"output"`
	// Equal counts the output's frames whose samples are the input's, by their MD5. Made are the numbers of
	// frames of which at least a part was made, and Changed those of all others that differ, as they do after an
	// encoder with losses.
	Equal   int64   `json:"equal"`
	Made    []int64 `json:"made"`
	Changed []int64 `json:"changed"`
	Frames  []Frame `json:"frames"`
}

// File describes a file.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256,omitempty"` // empty for image sequences
	Bytes  int64  `json:"bytes,omitempty"`
	Frames int64  `json:"frames"`
	Width  int    `json:"width"` // of the frames, in pixels
	Height int    `json:"height"`
}

// Frame is a picture that was made.
type Frame struct {
	restore.Entry
	Timecode string `json:"timecode,omitempty"` // of the output; empty if there is no rate
}

// Prepare makes the directory, if it is not there, and returns a fault.CannotWrite error if Write could not
// write into it. tidy removes the directory if Prepare has made it and nothing is in it.
func Prepare(dir string, overwrite bool) (tidy func(), err error) {
	if tidy, err = atomicfile.MakeDir(dir); err != nil {
		tidy()
		return tidy, fault.New(fault.CannotWrite, "%w", fault.Plain(err))
	}
	for _, name := range Files {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil && !overwrite {
			return tidy, fault.New(fault.CannotWrite, "%q exists; Output.Overwrite overwrites it", filepath.Join(dir, name))
		}
	}
	return tidy, nil
}

// Write writes the files into a directory. It reads the input and the output twice each: as files, for their hashes, and as frames.
func Write(ctx context.Context, dir string, j Job, overwrite bool) error {
	tidy, err := Prepare(dir, overwrite)
	if err != nil {
		return err
	}
	defer tidy()
	r := &Report{Command: shell.Join(j.Command), Version: j.Version, Input: File{Name: j.Options.Convert.Input.File}, Output: File{Name: j.Output}, Made: []int64{}, Changed: []int64{}}
	for _, f := range []*File{&r.Input, &r.Output} {
		if err := f.measure(ctx); err != nil {
			return err
		}
	}
	p, err := compare(ctx, &j, r)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	pageText, err := p.page(r)
	if err != nil {
		return err
	}
	events, err := r.events(j.Ended)
	if err != nil {
		return err
	}
	bag := r.bag(j.Ended)
	contents := [][]byte{pageText, append(data, '\n'), p.lists[0].text(), p.lists[1].text(), events, bag[bagDeclaration], bag[bagInfo], bag[bagManifest]}
	for i, content := range contents {
		if content == nil {
			continue
		}
		if err := atomicfile.WriteFile(filepath.Join(dir, Files[i]), overwrite, content); err != nil {
			return fault.New(fault.CannotWrite, "%w", err)
		}
	}
	return nil
}

// measure sets the hash and the size of a regular file.
func (f *File) measure(ctx context.Context) error {
	info, err := os.Stat(f.Name)
	if err != nil || !info.Mode().IsRegular() {
		return nil // an image sequence
	}
	in, err := plainfile.Open(f.Name, plainfile.Unlimited)
	if err != nil {
		return fault.New(fault.NoInput, "%w", err)
	}
	defer in.Close()
	f.Bytes = in.Size()
	if f.SHA256, err = in.SHA256(ctx); err != nil {
		return fault.Interrupted(ctx, fault.New(fault.BadData, "%w", fault.Plain(err)))
	}
	return nil
}
