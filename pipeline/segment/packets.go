package segment

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"retime/pipeline/media"
)

// A segment's file is packetsMagic, then for each packet a 1 and
//
//	pts, dts           zigzag varints, in the encoder's time base
//	duration, flags    varints
//	n                  varint, count of the pieces of side data that follow, each
//	                   kind, length, bytes
//	length, bytes      the packet's data
//
// and after the last packet a 0 and the count of packets as a varint. Packets of any
// encoder pass through it unchanged, which no container offers for all codecs.
const packetsMagic = "retime packets 1\n"

// These limits bound the memory for a hostile file.
const (
	maxPacket = 1 << 30
	maxSide   = 64
)

// packetWriter writes a segment's file.
type packetWriter struct {
	out   *bufio.Writer
	sum   hash.Hash
	bytes int64
	count uint64
	b     []byte
}

func newPacketWriter(w io.Writer) *packetWriter {
	p := &packetWriter{sum: sha256.New()}
	p.out = bufio.NewWriterSize(io.MultiWriter(w, p.sum, (*counter)(&p.bytes)), 1<<20)
	_, _ = p.out.WriteString(packetsMagic) // Flush returns its error
	return p
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func (w *packetWriter) write(p media.Packet) error {
	b := append(w.b[:0], 1)
	b = binary.AppendVarint(b, p.PTS)
	b = binary.AppendVarint(b, p.DTS)
	b = binary.AppendUvarint(b, uint64(p.Duration))
	b = binary.AppendUvarint(b, uint64(p.Flags))
	b = binary.AppendUvarint(b, uint64(len(p.Side)))
	for _, s := range p.Side {
		b = binary.AppendUvarint(b, uint64(s.Kind))
		b = binary.AppendUvarint(b, uint64(len(s.Data)))
		b = append(b, s.Data...)
	}
	b = binary.AppendUvarint(b, uint64(len(p.Data)))
	w.b = b
	w.count++
	if _, err := w.out.Write(b); err != nil {
		return err
	}
	_, err := w.out.Write(p.Data)
	return err
}

// close writes the end of the file; the writer's sum and bytes then are the whole
// file's.
func (w *packetWriter) close() error {
	if _, err := w.out.Write(binary.AppendUvarint([]byte{0}, w.count)); err != nil {
		return err
	}
	return w.out.Flush()
}

func (w *packetWriter) hex() string { return hex.EncodeToString(w.sum.Sum(nil)) }

// packetReader reads a segment's file.
type packetReader struct {
	in    *bufio.Reader
	sum   hash.Hash
	begun bool
	count uint64
}

func newPacketReader(r io.Reader) *packetReader {
	p := &packetReader{sum: sha256.New()}
	p.in = bufio.NewReaderSize(io.TeeReader(r, p.sum), 1<<20)
	return p
}

// next returns the next packet. It returns io.EOF after the last packet if the file
// ends there, too.
func (r *packetReader) next() (p media.Packet, err error) {
	if !r.begun {
		magic := make([]byte, len(packetsMagic))
		if _, err := io.ReadFull(r.in, magic); err != nil || string(magic) != packetsMagic {
			return p, errors.New("not a file of packets")
		}
		r.begun = true
	}
	p, err = r.packet()
	if err != nil && !errors.Is(err, errEnd) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return p, fmt.Errorf("packet %d: %w", r.count, err)
	}
	if err == nil {
		r.count++
		return p, nil
	}
	if n, err := binary.ReadUvarint(r.in); err != nil || n != r.count {
		return p, fmt.Errorf("it ends with the wrong count of packets, not %d", r.count)
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
		return p, errors.New("bytes follow its end")
	}
	return p, io.EOF
}

var errEnd = errors.New("end of packets")

func (r *packetReader) packet() (p media.Packet, err error) {
	switch mark, err := r.in.ReadByte(); {
	case err != nil:
		return p, err
	case mark == 0:
		return p, errEnd
	case mark != 1:
		return p, fmt.Errorf("begins with %d", mark)
	}
	for _, t := range []*int64{&p.PTS, &p.DTS} {
		if *t, err = binary.ReadVarint(r.in); err != nil {
			return p, err
		}
	}
	duration, err := r.number(1 << 62)
	if err != nil {
		return p, err
	}
	flags, err := r.number(1 << 31)
	if err != nil {
		return p, err
	}
	p.Duration, p.Flags = int64(duration), int(flags)
	n, err := r.number(maxSide)
	if err != nil {
		return p, err
	}
	for range n {
		kind, err := r.number(1 << 31)
		if err != nil {
			return p, err
		}
		data, err := r.block()
		if err != nil {
			return p, err
		}
		p.Side = append(p.Side, media.PacketSide{Kind: int(kind), Data: data})
	}
	p.Data, err = r.block()
	return p, err
}

// number reads a varint and checks that it is below bound.
func (r *packetReader) number(bound uint64) (uint64, error) {
	v, err := binary.ReadUvarint(r.in)
	if err == nil && v >= bound {
		err = fmt.Errorf("number %d: want less than %d", v, bound)
	}
	return v, err
}

// block reads a length and as many bytes. The memory that it takes grows with the bytes
// that it finds.
func (r *packetReader) block() ([]byte, error) {
	n, err := r.number(maxPacket)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r.in, int64(n)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (r *packetReader) hex() string { return hex.EncodeToString(r.sum.Sum(nil)) }
