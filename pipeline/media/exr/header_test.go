package exr

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// What is written is found again, and of a header cut short anywhere nothing is made up.
func TestReadHeader(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, 5, 4, []Channel{{"R", Half, sample(0)}, {"forward.u", Float, sample(0)}, {"Z", Float, sample(0)}}); err != nil {
		t.Fatal(err)
	}
	h, err := ReadHeader(bytes.NewReader(file.Bytes()))
	if err != nil || fmt.Sprint(h) != "{[R Z forward.u] [] false false}" {
		t.Errorf("%v, %v", h, err)
	}
	if got := fmt.Sprint(h.Lost()); got != "[channels Z, forward.u]" {
		t.Errorf("lost %s", got)
	}
	if got := fmt.Sprint((Header{[]string{"R", "G", "B", "A"}, []string{"timeCode"}, true, true}).Lost()); got != "[parts after the first the data window attributes timeCode]" {
		t.Errorf("lost %s", got)
	}
	length := len(header(5, 4, []Channel{{"R", Half, nil}, {"Z", Float, nil}, {"forward.u", Float, nil}}))
	for n := range length {
		if _, err := ReadHeader(bytes.NewReader(file.Bytes()[:n])); !errors.Is(err, ErrFormat) {
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
		if h, err := ReadHeader(bytes.NewReader(data)); err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%v, %v", h, err)
		}
	})
}
