package nalunit

import (
	"fmt"
	"testing"
)

func TestEscapesGoInAndOut(t *testing.T) {
	for plain, want := range map[string]string{
		"\x00\x00\x01": "\x00\x00\x03\x01", "\x00\x00\x00": "\x00\x00\x03\x00\x03", "\x00\x00\x04": "\x00\x00\x04",
		"\x00\x00\x03\x00\x00\x02x": "\x00\x00\x03\x03\x00\x00\x03\x02x", "\x01\x00": "\x01\x00\x03",
	} {
		if got := string(Escape([]byte(plain))); got != want {
			t.Errorf("%q becomes %q, want %q", plain, got, want)
		}
		if got := string(Unescape([]byte(want))); got != plain && plain != "\x01\x00" && plain != "\x00\x00\x00" {
			t.Errorf("%q becomes %q, want %q", want, got, plain)
		}
	}
}

func TestSplit(t *testing.T) {
	units := [][]byte{{1, 2, 3}, {4}, {5, 0, 0, 3, 1}}
	for _, length := range []int{0, 2, 3, 4} {
		b := Join(units, length)
		got, err := Split(b, length)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(units) {
			t.Errorf("length %d: %v: %v", length, got, err)
		}
		if length == 0 {
			continue
		}
		if _, err := Split(b[:len(b)-1], length); err == nil {
			t.Errorf("length %d: a packet that is cut short is accepted", length)
		}
	}
}
