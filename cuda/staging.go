package cuda

import (
	"errors"
	"unsafe"

	"retime/pipeline/frame"
)

// staging is page-locked memory through which a stream's uploads go: a ring of
// chunks. A chunk goes to the device on a stream of its own, while the other one
// works, and from there to its place.
type staging struct {
	stream *Stream
	chunks [stagingChunks]stagingChunk
	next   int
}

type stagingChunk struct {
	host   Pinned[byte]
	device Buffer[byte]
	// Nil before the first use: the host's part is free again, the device's is.
	sent, placed *Event
}

const (
	stagingChunks = 8
	stagingBytes  = 4 << 20 // of a chunk
)

// StageUploads makes uploads on s go through page-locked memory that s keeps. They
// then return once the values are copied there, and reach the device while it
// still does what was queued on s before, as long as 32 MiB hold what the device
// has not placed yet. Where there is too little device memory for that, uploads go
// as before.
func (s *Stream) StageUploads() error {
	up, err := s.device.NewStream()
	if err != nil {
		return err
	}
	g := &staging{stream: up}
	for i := range g.chunks {
		c := &g.chunks[i]
		if err = c.host.Resize(s.device, stagingBytes); err == nil {
			err = c.device.Resize(s.device, stagingBytes)
		}
		if err != nil {
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
	_ = g.stream.Close()
	for i := range g.chunks {
		c := &g.chunks[i]
		_ = c.host.Free()
		c.device.Free()
		for _, e := range []*Event{c.sent, c.placed} {
			if e != nil {
				_ = e.Close()
			}
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

// send copies rows by way of the chunks.
func (s *Stream) send(dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	for y := 0; y < height; {
		rows := min(stagingBytes/width, height-y)
		c := &s.staging.chunks[s.staging.next]
		s.staging.next = (s.staging.next + 1) % stagingChunks
		if err := c.take(s.staging.stream); err != nil {
			return err
		}
		gather(c.host.Values, unsafe.Add(src, y*srcStride), srcStride, width, rows)
		if err := c.place(s, dst+uintptr(y*dstStride), dstStride, width, rows); err != nil {
			return err
		}
		y += rows
	}
	return nil
}

// take waits until the host may write c, and makes up wait until the device may.
func (c *stagingChunk) take(up *Stream) (err error) {
	if c.sent == nil {
		c.sent, err = up.device.NewEvent()
		return err
	}
	if err := c.sent.Synchronize(); err != nil {
		return err
	}
	if c.placed == nil {
		return nil
	}
	return up.WaitFor(c.placed)
}

// place sends what c holds to the device, and makes s copy it to dst.
func (c *stagingChunk) place(s *Stream, dst uintptr, dstStride, width, rows int) (err error) {
	up := s.staging.stream
	if err := c.device.Upload(up, c.host.Values[:width*rows]); err != nil {
		return err
	}
	if err := up.Record(c.sent); err != nil {
		return err
	}
	if err := s.WaitFor(c.sent); err != nil {
		return err
	}
	if err := s.device.driver.Copy(s.handle, dst, dstStride, c.device.address, width, width, rows); err != nil {
		return err
	}
	if c.placed == nil {
		if c.placed, err = s.device.NewEvent(); err != nil {
			return err
		}
	}
	return s.Record(c.placed)
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
