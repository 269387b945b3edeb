package media

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// A palette that lacks colours which would fit gets them, and others stay as they are.
func TestColourSet(t *testing.T) {
	pixels := func(words ...uint32) (row []byte) {
		for _, w := range words {
			row = binary.LittleEndian.AppendUint32(row, w)
		}
		return row
	}
	s := colourSet{}
	s.add(pixels(0xff010203, 0xff010203, 0x00ffffff, 0x80040506, 0x7f112233))
	if len(s) != 2 {
		t.Fatalf("%d colours, want 2: %v", len(s), s)
	}
	for _, c := range []struct{ table, want []byte }{
		{pixels(0xff040506, 0xff010203, 0xff000000, 0), pixels(0xff040506, 0xff010203, 0xff000000, 0)},
		{pixels(0xff040505, 0xff010203, 0xff000000, 0), pixels(0xff010203, 0xff040506, 0xff000000, 0)},
	} {
		got := bytes.Clone(c.table)
		if s.complete(got); !bytes.Equal(got, c.want) {
			t.Errorf("% x became % x, want % x", c.table, got, c.want)
		}
	}
	for i := range uint32(paletteSize) {
		s.add(pixels(0xff000000 | i<<8))
	}
	few := pixels(0xff000000)
	if s.complete(few); !bytes.Equal(few, pixels(0xff000000)) {
		t.Errorf("a palette for too many colours became % x", few)
	}
}
