package motion

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"retime/flow"
	"retime/flow/opencv"
	"retime/frame"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/warp"
)

// Cache keeps the flow between two pictures in files of a directory, named after the
// method, the build of OpenCV and the pictures. A field is read as it was written, bit
// for bit. A file that cannot be read is estimated and written again, one that cannot be
// written is not kept; a warning names the first file of either kind. A Cache serves any
// number of goroutines. A nil Cache keeps nothing.
type Cache struct {
	dir    string
	opencv string // what the fields' bits depend on beside the method
	log    *slog.Logger

	opened             func() error // does it once
	unreadable, unkept sync.Once
}

// cacheVersion is part of the files' names. It is to be raised when from the same
// pictures, with the same parameters of the estimators, other fields come out: with
// changes to estimates in this package, to warp.Halve, and to block matching, scaling
// and KeepStill of package flow.
const cacheVersion = 1

// NewCache returns the cache in dir, which the first estimator opens; nil if dir is
// empty.
func NewCache(dir string, log *slog.Logger) *Cache {
	if dir == "" {
		return nil
	}
	c := &Cache{dir: dir, opencv: opencv.Build(), log: log}
	c.opened = sync.OnceValue(c.prepare)
	return c
}

// open is called by each user before its first fields.
func (c *Cache) open() error {
	if c == nil {
		return nil
	}
	return c.opened()
}

// prepare makes the directory if it is not there, and removes what killed runs have
// left in it of files that they were writing.
func (c *Cache) prepare() error {
	if err := os.MkdirAll(c.dir, 0o777); errors.Is(err, syscall.ENOTDIR) {
		return fault.New(fault.Usage, "Synthesis.FlowCache %q: %w; name a directory", c.dir, err)
	} else if err != nil {
		return fault.New(fault.CannotWrite, "Synthesis.FlowCache: %w", err)
	}
	if err := atomicfile.Sweep(c.dir + string(filepath.Separator)); err != nil {
		c.log.Debug("unfinished files stay in the flow cache", "reason", err)
	}
	return nil
}

// pairs sets dst to the flows between a and b that the method makes, which estimate
// does if they are not kept. They are the same ones between b and a, the other way
// round.
func (c *Cache) pairs(method string, a, b Guide, dst []warp.FlowPair, estimate func() error) error {
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
func (c *Cache) fields(method string, a, b Guide, dst []*flow.Field, estimate func() error) error {
	if c == nil {
		return estimate()
	}
	name := c.name(method, a, b)
	switch fields, err := readFields(name, len(dst), a.picture()); {
	case err == nil:
		for i, f := range fields {
			*dst[i] = f
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		c.unreadable.Do(func() {
			c.log.Warn("kept flow cannot be read and is estimated again; further files are not named", "file", name, "reason", err)
		})
	}
	if err := estimate(); err != nil {
		return err
	}
	if err := writeFields(name, dst); err != nil {
		c.unkept.Do(func() {
			c.log.Warn("flow cannot be kept; further files are not named", "file", name, "reason", err)
		})
	}
	return nil
}

// name returns the file for two pictures.
func (c *Cache) name(method string, a, b Guide) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s\n%s\n", cacheVersion, method, c.opencv)
	for _, v := range []Guide{a, b} {
		d := v.digest()
		h.Write(d[:])
	}
	return filepath.Join(c.dir, hex.EncodeToString(h.Sum(nil)[:16])+".flow")
}

func readFields(name string, n int, like frame.Image[uint8]) ([]flow.Field, error) {
	f, err := plainfile.Open(name, plainfile.Unlimited) // ReadFields bounds what it reads
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return flow.ReadFields(f, n, like.Width, like.Height)
}

// writeFields writes a file that is whole, and on disk, as soon as it has its name.
func writeFields(name string, fields []*flow.Field) error {
	list := make([]flow.Field, len(fields))
	for i, field := range fields {
		list[i] = *field
	}
	return atomicfile.Write(name, func(w io.Writer) error { return flow.WriteFields(w, list...) })
}
