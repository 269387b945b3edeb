package cuda

import (
	"errors"
	"unsafe"

	"retime/frame"
)

// staging is a ring of chunks of page-locked memory through which a stream's uploads pass.
type staging struct {
	chunks [stagingChunks]stagingChunk
	next   int
}

type stagingChunk struct {
	Pinned[byte]
	sent *Event // happens when the device has the chunk's contents; nil before the first use
}

const (
	stagingChunks = 8
	stagingBytes  = 4 << 20 // size of a chunk
)

// StageUploads makes uploads on s pass through 32 MiB of page-locked memory that s keeps. An upload
// then returns once its values are copied there, as long as the uploads in flight leave room. If
// the host has too little memory for that, uploads remain direct, which is no error.
func (s *Stream) StageUploads() error {
	g := new(staging)
	for i := range g.chunks {
		if err := g.chunks[i].Resize(s.device, stagingBytes); err != nil {
			g.free()
			if errors.Is(err, ErrOutOfMemory) {
				return nil
			}
			return err
		}
	}
	s.staging = g
	return nil
}

func (g *staging) free() {
	for i := range g.chunks {
		c := &g.chunks[i]
		_ = c.Free()
		if c.sent != nil {
			_ = c.sent.Close()
		}
	}
}

// upload queues a copy of height rows of width bytes to the device.
func (s *Stream) upload(dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	if s.staging == nil || width > stagingBytes {
		return s.device.driver.CopyToDevice(s.handle, dst, dstStride, src, srcStride, width, height)
	}
	if width == srcStride && width == dstStride {
		// A contiguous run of bytes is sent as rows that each fill a chunk, and a remainder.
		if whole := width * height / stagingBytes; whole > 0 {
			if err := s.send(dst, stagingBytes, src, stagingBytes, stagingBytes, whole); err != nil {
				return err
			}
			done := whole * stagingBytes
			if done == width*height {
				return nil
			}
			dst, src = dst+uintptr(done), unsafe.Add(src, done)
			width, height = width*height-done, 1
		} else {
			width, height = width*height, 1
		}
	}
	return s.send(dst, dstStride, src, srcStride, width, height)
}

// send copies rows to the device through the chunks.
func (s *Stream) send(dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	g := s.staging
	for y := 0; y < height; {
		rows := min(stagingBytes/width, height-y)
		c := &g.chunks[g.next]
		g.next = (g.next + 1) % stagingChunks
		if err := c.take(s.device); err != nil {
			return err
		}
		gather(c.Values, unsafe.Add(src, y*srcStride), srcStride, width, rows)
		from := unsafe.Pointer(unsafe.SliceData(c.Values))
		if err := s.device.driver.CopyToDevice(s.handle, dst+uintptr(y*dstStride), dstStride, from, width, width, rows); err != nil {
			return err
		}
		if err := s.Record(c.sent); err != nil {
			return err
		}
		y += rows
	}
	return nil
}

// take waits until the host may write to c.
func (c *stagingChunk) take(d *Device) (err error) {
	if c.sent == nil {
		c.sent, err = d.NewEvent()
		return err
	}
	return c.sent.Synchronize()
}

// copiers is the largest number of threads that copy within host memory. A few come close to the
// memory's bandwidth, and the other stages need the rest of it.
const copiers = 4

// gatherRow is the largest number of bytes that a worker copies at once.
const gatherRow = 64 << 10

// gather copies rows to dst and omits the gaps between them.
func gather(dst []byte, src unsafe.Pointer, stride, width, rows int) {
	if rows == 1 {
		from := unsafe.Slice((*byte)(src), width)
		frame.Workers{N: copiers}.Rows((width+gatherRow-1)/gatherRow, func(y0, y1 int) {
			copy(dst[y0*gatherRow:min(width, y1*gatherRow)], from[y0*gatherRow:])
		})
		return
	}
	frame.Workers{N: copiers}.Rows(rows, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			copy(dst[y*width:][:width], unsafe.Slice((*byte)(unsafe.Add(src, y*stride)), width))
		}
	})
}
