package media

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
)

// This file looks at the ends of files whose containers state no duration.

// endMarks tells for FFmpeg's names of these containers whether a file has its end.
var endMarks = map[string]func(*os.File) bool{
	"gif": func(f *os.File) bool { _, ends := readGIF(f); return ends },
	"ogg": oggEnds,
	"asf": asfEnds,
}

// lacksEnd reports whether the input is a file whose container marks its end, but whose
// end is missing.
func (d *demuxer) lacksEnd() bool {
	ends := endMarks[d.input.InputFormat().Name()]
	if ends == nil || !Seekable(d.name) {
		return false
	}
	f, err := os.Open(d.name)
	if err != nil {
		return false
	}
	defer f.Close()
	return !ends(f)
}

// padded reports whether the input is a file that ends in zeros, which a recorder that set space
// apart may leave.
func (d *demuxer) padded() bool {
	if !Seekable(d.name) {
		return false
	}
	f, err := os.Open(d.name)
	if err != nil {
		return false
	}
	defer f.Close()
	tail := make([]byte, 64)
	if _, err := f.Seek(-int64(len(tail)), io.SeekEnd); err != nil {
		return false
	}
	_, err = io.ReadFull(f, tail)
	return err == nil && !slices.ContainsFunc(tail, func(b byte) bool { return b != 0 })
}

// oggEnds reports whether an Ogg file's last page is whole and the last of its stream
// (RFC 3533, section 6).
func oggEnds(f *os.File) bool {
	const header, largest, last = 27, 27 + 255 + 255*255, 4
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return true
	}
	tail := make([]byte, min(size, 2*largest))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return true
	}
	ends := true
	for {
		i := bytes.Index(tail, []byte("OggS\x00"))
		if i < 0 {
			return ends
		}
		page := tail[i:]
		if len(page) < header || len(page) < header+int(page[26]) {
			return false
		}
		length := header + int(page[26])
		for _, n := range page[header:length] {
			length += int(n)
		}
		if len(page) < length {
			return false
		}
		ends = page[5]&last != 0
		tail = page[length:]
	}
}

// asfEnds reports whether an ASF file is as long as its header and its data object say (Advanced Systems Format, revision
// 01.20.05, sections 3 and 5), which FFmpeg believes only of whole files. A broadcast's file properties say that its sizes mean nothing.
func asfEnds(f *os.File) bool {
	const (
		header     = "\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c"
		data       = "\x36\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c"
		properties = "\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0\x0c\x20\x53\x65"
		flags      = 16 + 8 + 16 + 6*8 // where they are in the properties
		most       = 1 << 60
	)
	object := func(id string, at int64) (size int64) {
		head := make([]byte, 16+8)
		if _, err := f.ReadAt(head, at); err != nil || string(head[:16]) != id {
			return 0
		}
		return int64(min(binary.LittleEndian.Uint64(head[16:]), most))
	}
	info, err := f.Stat()
	if err != nil {
		return true
	}
	begin := object(header, 0)
	head := make([]byte, min(begin, info.Size(), 1<<16)) // the properties are among the header's first objects
	if _, err := f.ReadAt(head, 0); err != nil {
		return true
	}
	if i := bytes.Index(head, []byte(properties)); i >= 0 && i+flags < len(head) && head[i+flags]&1 != 0 {
		return true
	}
	return begin == 0 || begin+object(data, begin) <= info.Size()
}
