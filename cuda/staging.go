package cuda

import (
	"unsafe"

	"retime/pipeline/frame"
)

// staging is page-locked memory through which a stream's uploads go: a ring of
// chunks, each in use until its event happens.
type staging struct {
	chunks [stagingChunks]stagingChunk
	next   int
}

type stagingChunk struct {
	host Pinned[byte]
	sent *Event // nil before the first use
}

const (
	stagingChunks = 8
	stagingBytes  = 4 << 20 // of a chunk
)

// StageUploads makes uploads on s go through page-locked memory that s keeps. They
// then return once the values are copied there, whatever else is queued, as long as
// 32 MiB hold what the device has not fetched yet.
func (s *Stream) StageUploads() error {
	g := new(staging)
	for i := range g.chunks {
		if err := g.chunks[i].host.Resize(s.device, stagingBytes); err != nil {
			g.free()
			return err
		}
	}
	s.staging = g
	return nil
}

func (g *staging) free() {
	for i := range g.chunks {
		c := &g.chunks[i]
		_ = c.host.Free()
		if c.sent != nil {
			_ = c.sent.Close()
		}
	}
}

// upload queues a copy of height rows of width bytes.
func (s *Stream) upload(dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	if s.staging == nil || width > stagingBytes {
		return s.device.driver.CopyToDevice(s.handle, dst, dstStride, src, srcStride, width, height)
	}
	if width == srcStride && width == dstStride {
		// One run of bytes: rows as long as fit, and what is left.
		if whole := width * height / stagingBytes; whole > 0 {
			if err := s.send(dst, stagingBytes, src, stagingBytes, stagingBytes, whole); err != nil {
				return err
			}
			done := whole * stagingBytes
			dst, src = dst+uintptr(done), unsafe.Add(src, done)
			width, height = width*height-done, 1
		} else {
			width, height = width*height, 1
		}
		if width == 0 {
			return nil
		}
	}
	return s.send(dst, dstStride, src, srcStride, width, height)
}

// send copies rows by way of the chunks.
func (s *Stream) send(dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	for rows := stagingBytes / width; height > 0; height -= rows {
		rows = min(rows, height)
		c := &s.staging.chunks[s.staging.next]
		s.staging.next = (s.staging.next + 1) % stagingChunks
		if err := c.take(s); err != nil {
			return err
		}
		gather(c.host.Values, src, srcStride, width, rows)
		err := s.device.driver.CopyToDevice(s.handle, dst, dstStride, unsafe.Pointer(unsafe.SliceData(c.host.Values)), width, width, rows)
		if err != nil {
			return err
		}
		if err := s.Record(c.sent); err != nil {
			return err
		}
		dst, src = dst+uintptr(rows*dstStride), unsafe.Add(src, rows*srcStride)
	}
	return nil
}

// take waits until the device has fetched what c holds.
func (c *stagingChunk) take(s *Stream) (err error) {
	if c.sent == nil {
		c.sent, err = s.device.NewEvent()
		return err
	}
	return c.sent.Synchronize()
}

// gatherRow is the most bytes that a worker copies at a time.
const gatherRow = 64 << 10

// gather copies rows to dst without the gaps between them.
func gather(dst []byte, src unsafe.Pointer, stride, width, rows int) {
	if rows == 1 {
		from := unsafe.Slice((*byte)(src), width)
		frame.Workers{}.Rows((width+gatherRow-1)/gatherRow, func(y0, y1 int) {
			copy(dst[y0*gatherRow:min(width, y1*gatherRow)], from[y0*gatherRow:])
		})
		return
	}
	frame.Workers{}.Rows(rows, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			copy(dst[y*width:][:width], unsafe.Slice((*byte)(unsafe.Add(src, y*stride)), width))
		}
	})
}
