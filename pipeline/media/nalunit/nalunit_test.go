package nalunit

import (
	"fmt"
	"testing"
)

func TestEscapesGoInAndOut(t *testing.T) {
	for _, c := range []struct {
		plain, escaped string
		back           bool // Unescape gives plain; the last escape of a unit that ends in zeros stays
	}{
		{"\x00\x00\x01", "\x00\x00\x03\x01", true}, {"\x00\x00\x04", "\x00\x00\x04", true},
		{"\x00\x00\x03\x00\x00\x02x", "\x00\x00\x03\x03\x00\x00\x03\x02x", true},
		{"\x00\x00\x00", "\x00\x00\x03\x00\x03", false}, {"\x01\x00", "\x01\x00\x03", false},
	} {
		if got := string(Escape([]byte(c.plain))); got != c.escaped {
			t.Errorf("%q becomes %q, want %q", c.plain, got, c.escaped)
		}
		if got := string(Unescape([]byte(c.escaped))); c.back != (got == c.plain) {
			t.Errorf("%q becomes %q", c.escaped, got)
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
