package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"retime/flow"
	"retime/pipeline/fault"
	"retime/pipeline/frame"
)

// flowCache is an Estimator that keeps fields in files of a directory, named after
// the pictures and the method that they come from. A field that is read is the
// one that was written, bit for bit.
type flowCache struct {
	Estimator
	dir, method string
}

// newFlowCache returns e with a cache in dir, which is made if it is not there.
func newFlowCache(e Estimator, dir, method string) (*flowCache, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fault.New(fault.CannotWrite, "--flow-cache: %w", err)
	}
	return &flowCache{e, dir, method}, nil
}

func (c *flowCache) Estimate(a, b frame.Image[uint8], dst *flow.Field) error {
	name := filepath.Join(c.dir, c.key(a, b)+".flo")
	switch err := readCached(name, a, dst); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.BadData, "--flow-cache: %q: %w; delete it", name, err)
	}
	if err := c.Estimator.Estimate(a, b, dst); err != nil {
		return err
	}
	if err := writeCached(name, *dst); err != nil {
		return fault.New(fault.CannotWrite, "--flow-cache: %w", err)
	}
	return nil
}

// key names the flow from a to b.
func (c *flowCache) key(a, b frame.Image[uint8]) string {
	h := sha256.New()
	h.Write([]byte(c.method))
	for _, m := range []frame.Image[uint8]{a, b} {
		var size [16]byte
		binary.LittleEndian.PutUint64(size[:], uint64(m.Width))
		binary.LittleEndian.PutUint64(size[8:], uint64(m.Height))
		h.Write(size[:])
		for y := range m.Height {
			h.Write(m.Row(y))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func readCached(name string, a frame.Image[uint8], dst *flow.Field) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	field, err := flow.ReadFlo(f)
	if err != nil {
		return err
	}
	if field.Width != a.Width || field.Height != a.Height {
		return errors.New("a field of another size")
	}
	*dst = field
	return nil
}

// writeCached writes a file that is whole as soon as it has its name.
func writeCached(name string, field flow.Field) error {
	f, err := os.CreateTemp(filepath.Dir(name), "*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone by then where all went well
	err = flow.WriteFlo(f, field)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
