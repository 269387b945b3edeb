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
	"retime/frame"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/warp"
)

// Cache keeps the flow between two pictures in files of a directory, named after the
// method with its parameters and the pictures. A field is read as it was written, bit
// for bit. A file that cannot be read is estimated and written again, one that cannot be
// written is not kept; a warning names the first file of either kind. A Cache serves any
// number of goroutines. A nil Cache keeps nothing.
type Cache struct {
	dir string
	log *slog.Logger

	opened             func() error // does it once
	unreadable, unkept sync.Once
}

// cacheVersion is part of the files' names. It is to be raised when from the same
// pictures, with the same parameters of the estimators, other fields come out: with
// changes to the estimators, to warp.Halve, and to KeepStill of package flow.
const cacheVersion = 2

// NewCache returns the cache in dir, which the first estimator opens; nil if dir is
// empty.
func NewCache(dir string, log *slog.Logger) *Cache {
	if dir == "" {
		return nil
	}
	c := &Cache{dir: dir, log: log}
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

// pair sets dst to the flows between a and b that the method makes, which estimate does
// if they are not kept. Between b and a they are the same ones, the other way round. If
// the method has no name, its flows are not kept. What pair reads is in new memory, as
// fields are handed on.
func (c *Cache) pair(method string, a, b Guide, dst *warp.FlowPair, estimate func() error) error {
	if c == nil || method == "" {
		return estimate()
	}
	fields := []*flow.Field{&dst.Forward, &dst.Backward}
	if da, db := a.digest(), b.digest(); bytes.Compare(da[:], db[:]) > 0 {
		fields[0], fields[1] = fields[1], fields[0]
		a, b = b, a
	}
	name := c.name(method, a, b)
	switch kept, err := readFields(name, a.picture()); {
	case err == nil:
		for i, f := range kept {
			*fields[i] = f
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
	if err := writeFields(name, fields); err != nil {
		c.unkept.Do(func() {
			c.log.Warn("flow cannot be kept; further files are not named", "file", name, "reason", err)
		})
	}
	return nil
}

// name returns the file for two pictures.
func (c *Cache) name(method string, a, b Guide) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s\n", cacheVersion, method)
	for _, v := range []Guide{a, b} {
		d := v.digest()
		h.Write(d[:])
	}
	return filepath.Join(c.dir, hex.EncodeToString(h.Sum(nil)[:16])+".flow")
}

func readFields(name string, like frame.Image[uint8]) ([]flow.Field, error) {
	f, err := plainfile.Open(name, plainfile.Unlimited) // ReadFields bounds what it reads
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return flow.ReadFields(f, 2, like.Width, like.Height)
}

// writeFields writes a file that is whole, and on disk, as soon as it has its name.
func writeFields(name string, fields []*flow.Field) error {
	list := make([]flow.Field, len(fields))
	for i, field := range fields {
		list[i] = *field
	}
	return atomicfile.Replace(name, func(w io.Writer) error { return flow.WriteFields(w, list...) })
}
