package exr

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"testing"
)

// What is written is found again, and of a header cut short anywhere nothing is made up.
func TestReadHeader(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, 5, 4, []Channel{{"R", Half, sample(0)}, {"forward.u", Float, sample(0)}, {"Z", Float, sample(0)}}); err != nil {
		t.Fatal(err)
	}
	h, err := ReadHeader(file.Bytes())
	if err != nil || fmt.Sprint(h) != "{[Z forward.u] true [] false false}" {
		t.Errorf("%v, %v", h, err)
	}
	other := bytes.Clone(file.Bytes())
	other[5] |= 0x10 // several parts
	display := []byte("displayWindow\x00box2i\x00\x10\x00\x00\x00")
	other[bytes.Index(other, display)+len(display)+8]++ // a column more
	other = bytes.Replace(other, []byte("lineOrder\x00"), []byte("line_Code\x00"), 1)
	if h, err := ReadHeader(other); err != nil || fmt.Sprint(h) != "{[Z forward.u] true [line_Code] true true}" {
		t.Errorf("%v, %v", h, err)
	}
	length := len(header(frameOf{window: image.Rect(0, 0, 5, 4)}, []Channel{{"R", Half, nil}, {"Z", Float, nil}, {"forward.u", Float, nil}}))
	for n := range length {
		if _, err := ReadHeader(file.Bytes()[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}

func FuzzReadHeader(f *testing.F) {
	var file bytes.Buffer
	if err := Write(&file, 2, 2, []Channel{{"R", Half, sample(0)}}); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := ReadHeader(data); err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%v, %v", h, err)
		}
	})
}
