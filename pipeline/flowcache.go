package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"retime/flow"
	"retime/pipeline/fault"
	"retime/pipeline/frame"
	"retime/warp"
)

// flowCache keeps what is estimated from two pictures in files of a directory, named
// after the method and the pictures. Fields that are read are those that were
// written, bit for bit. A nil flowCache keeps nothing.
type flowCache struct{ dir string }

// cacheVersion is part of the files' names. It is to be raised when from the same
// pictures, with the same parameters of the estimators, other fields come out: with
// changes to estimates in this package, to warp.Halve, and to block matching, scaling
// and KeepStill of package flow.
const cacheVersion = 1

// newFlowCache returns the cache in dir, which is made if it is not there; nil for
// no name.
func newFlowCache(dir string) (*flowCache, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fault.New(fault.CannotWrite, "--flow-cache: %w", err)
	}
	return &flowCache{dir}, nil
}

// pairs sets dst to the flows between a and b that the method makes, which estimate
// does if they are not kept. They are the same ones between b and a, the other way
// round.
func (c *flowCache) pairs(method string, a, b view, dst []warp.FlowPair, estimate func() error) error {
	if c == nil {
		return estimate()
	}
	da, db := a.digest(), b.digest()
	turned := bytes.Compare(da[:], db[:]) > 0
	fields := make([]*flow.Field, 0, 2*len(dst))
	for i := range dst {
		there, back := &dst[i].Forward, &dst[i].Backward
		if turned {
			there, back = back, there
		}
		fields = append(fields, there, back)
	}
	if turned {
		a, b = b, a
	}
	return c.fields(method, a, b, fields, estimate)
}

// fields sets dst to what the method makes of a and b, in this order. What it reads
// is in new memory, as fields are handed on.
func (c *flowCache) fields(method string, a, b view, dst []*flow.Field, estimate func() error) error {
	if c == nil {
		return estimate()
	}
	name := c.name(method, a, b)
	switch fields, err := readFields(name, len(dst), a.guide()); {
	case err == nil:
		for i, f := range fields {
			*dst[i] = f
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.BadData, "--flow-cache: %q: %w; delete it", name, err)
	}
	if err := estimate(); err != nil {
		return err
	}
	if err := writeFields(name, dst); err != nil {
		return fault.New(fault.CannotWrite, "--flow-cache: %w", err)
	}
	return nil
}

// name is that of the file for two pictures.
func (c *flowCache) name(method string, a, b view) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s\n", cacheVersion, method)
	for _, v := range []view{a, b} {
		d := v.digest()
		h.Write(d[:])
	}
	return filepath.Join(c.dir, hex.EncodeToString(h.Sum(nil)[:16])+".flow")
}

func readFields(name string, n int, like frame.Image[uint8]) ([]flow.Field, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return flow.ReadFields(f, n, like.Width, like.Height)
}

// writeFields writes a file that is whole as soon as it has its name.
func writeFields(name string, fields []*flow.Field) error {
	f, err := os.CreateTemp(filepath.Dir(name), "*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone by then where all went well
	list := make([]flow.Field, len(fields))
	for i, field := range fields {
		list[i] = *field
	}
	err = flow.WriteFields(f, list...)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
