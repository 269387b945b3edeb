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

// newFlowCache returns e with a cache in dir, which is made if it is not there. It
// closes e where that fails.
func newFlowCache(e Estimator, dir, method string) (*flowCache, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		e.Close()
		return nil, fault.New(fault.CannotWrite, "--flow-cache: %w", err)
	}
	return &flowCache{e, dir, method}, nil
}

// startedFlowCache is a flowCache of an estimator that takes an initial flow.
type startedFlowCache struct {
	*flowCache
	from startedEstimator
}

func newStartedFlowCache(e startedEstimator, dir, method string) (*startedFlowCache, error) {
	c, err := newFlowCache(e, dir, method)
	if err != nil {
		return nil, err
	}
	return &startedFlowCache{c, e}, nil
}

func (c *startedFlowCache) EstimateFrom(a, b frame.Image[uint8], initial flow.Field, dst *flow.Field) error {
	return c.keep(c.key(a, b, initial), a, dst, func() error { return c.from.EstimateFrom(a, b, initial, dst) })
}

func (c *flowCache) Estimate(a, b frame.Image[uint8], dst *flow.Field) error {
	return c.keep(c.key(a, b, flow.Field{}), a, dst, func() error { return c.Estimator.Estimate(a, b, dst) })
}

// keep reads the field called key, or else estimates and writes it.
func (c *flowCache) keep(key string, a frame.Image[uint8], dst *flow.Field, estimate func() error) error {
	name := filepath.Join(c.dir, key+".flo")
	switch err := readCached(name, a, dst); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.BadData, "--flow-cache: %q: %w; delete it", name, err)
	}
	if err := estimate(); err != nil {
		return err
	}
	if err := writeCached(name, *dst); err != nil {
		return fault.New(fault.CannotWrite, "--flow-cache: %w", err)
	}
	return nil
}

// key names the flow from a to b that starts from an initial one, which may be
// empty.
func (c *flowCache) key(a, b frame.Image[uint8], initial flow.Field) string {
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
	for y := range initial.Height {
		for _, v := range initial.Row(y) {
			var vec [8]byte
			binary.LittleEndian.PutUint32(vec[:], uint32(v.X))
			binary.LittleEndian.PutUint32(vec[4:], uint32(v.Y))
			h.Write(vec[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// readCached sets dst, whose memory it does not reuse: fields are handed on.
func readCached(name string, a frame.Image[uint8], dst *flow.Field) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	field := flow.NewField(a.Width, a.Height)
	if err := flow.ReadFloSized(f, field); err != nil {
		return err
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
