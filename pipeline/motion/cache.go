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
	"slices"
	"sync"
	"syscall"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
	"retime/warp"
)

// Cache keeps the flow between two pictures in files of a directory, named by a hash of the method,
// its parameters and the pictures. A field is read exactly as it was written. If a file cannot be
// read, its flow is estimated and written again; if it cannot be written, the flow is not kept. A
// warning names the first file of either kind. Any number of goroutines may use a Cache. A nil
// Cache keeps nothing.
type Cache struct {
	dir string
	log *slog.Logger

	opened             func() error // calls prepare once
	unreadable, unkept sync.Once
}

// cacheVersion is part of what names a file. Raise it when the same pictures and parameters give
// other fields: with changes to the estimators, warp.Luma, warp.Halve or flow.KeepStill.
const cacheVersion = 3

// NewCache returns the cache in dir, which the first estimator opens, or nil if dir is empty.
func NewCache(dir string, log *slog.Logger) *Cache {
	if dir == "" {
		return nil
	}
	c := &Cache{dir: dir, log: log}
	c.opened = sync.OnceValue(c.prepare)
	return c
}

// open must be called before the cache is used; only the first call does anything.
func (c *Cache) open() error {
	if c == nil {
		return nil
	}
	return c.opened()
}

// prepare makes the directory if it does not exist, and removes the unfinished files of killed
// runs.
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

// flow returns the method's flow between a and b, and calls estimate if it is not kept. From b to a
// it is the same flow with its fields swapped. The flow of a method without a name is not kept.
func (c *Cache) flow(method string, a, b Guide, estimate func() (Flow, error)) (Flow, error) {
	if c == nil || method == "" {
		return estimate()
	}
	first, second, turned := a, b, false
	if da, db := a.digest(), b.digest(); bytes.Compare(da[:], db[:]) > 0 {
		first, second, turned = b, a, true
	}
	name := c.name(method, first, second)
	switch kept, err := readFields(name, a.picture()); {
	case err == nil:
		if turned {
			kept[0], kept[1] = kept[1], kept[0]
		}
		return newHosted(a, b, warp.FlowPair{Forward: kept[0], Backward: kept[1]}), nil
	case !errors.Is(err, fs.ErrNotExist):
		c.unreadable.Do(func() {
			c.log.Warn("kept flow cannot be read and is estimated again; further files are not named", "file", name, "reason", err)
		})
	}
	f, err := estimate()
	if err != nil {
		return nil, err
	}
	p, err := f.Fields()
	if err != nil {
		f.Release()
		return nil, err
	}
	fields := []flow.Field{p.Forward, p.Backward}
	if turned {
		slices.Reverse(fields)
	}
	if err := writeFields(name, fields); err != nil {
		c.unkept.Do(func() {
			c.log.Warn("flow cannot be kept; further files are not named", "file", name, "reason", err)
		})
	}
	return f, nil
}

// name returns the name of the file for two pictures.
func (c *Cache) name(method string, a, b Guide) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s\n", cacheVersion, method)
	if a.scale.Finer {
		fmt.Fprintln(h, "halved")
	}
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

// writeFields writes a file that appears under its name only once it is complete and on disk.
func writeFields(name string, fields []flow.Field) error {
	return atomicfile.Replace(name, func(w io.Writer) error { return flow.WriteFields(w, fields...) })
}
