package still

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

func crc(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

func TestPNM(t *testing.T) {
	for _, c := range []struct {
		name, data string
		size       string
		max        int
		want       [][]float64
	}{
		{"P2 with comments", "P2\n# a diagonal\n3 2 # size\n#max\n15\n15 0 #first\n0\n0 15 0", "3x2, gray, 4 bit", 15, [][]float64{{15, 0, 0, 0, 15, 0}}},
		{"P2 in one line", "P2 2 1 1 0 1\n", "2x1, gray, 1 bit", 1, [][]float64{{0, 1}}},
		{"P2 with CRLF", "P2\r\n2 1\r\n1023\r\n1023\r\n7\r\n", "2x1, gray, 10 bit", 1023, [][]float64{{1023, 7}}},
		{"P2 up to 100", "P2 1 2 100 99 100", "1x2, gray, 0 to 100", 100, [][]float64{{99, 100}}},
		{"P3", "P3 2 1 65535\n1 2 3 65535 5 6", "2x1, RGB, 16 bit", 65535, [][]float64{{1, 65535}, {2, 5}, {3, 6}}},
		{"P5", "P5\n2 2\n255\n\x00\x01\xfe\xff", "2x2, gray, 8 bit", 255, [][]float64{{0, 1, 254, 255}}},
		{"P5 with samples like white space and comments", "P5 2 2 255 \n# 1", "2x2, gray, 8 bit", 255, [][]float64{{'\n', '#', ' ', '1'}}},
		{"P5 with comments", "P5 # a\n2 # b\n#c\n1 1# d\n\x00\x01", "2x1, gray, 1 bit", 1, [][]float64{{0, 1}}},
		{"P5, 16 bit", "P5 2 1 256\n\x01\x00\x00\x02", "2x1, gray, 0 to 256", 256, [][]float64{{256, 2}}},
		{"P6", "P6 1 2 255\tabcdef", "1x2, RGB, 8 bit", 255, [][]float64{{'a', 'd'}, {'b', 'e'}, {'c', 'f'}}},
		{"P6 of which the first is read", "P6 1 1 255\nabcP6 1 1 255\ndef", "1x1, RGB, 8 bit", 255, [][]float64{{'a'}, {'b'}, {'c'}}},
	} {
		p, err := Decode(strings.NewReader(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if p.String() != c.size || p.Max != c.max || len(p.Channels) != len(c.want) || p.Text != (c.data[1] < '4') {
			t.Errorf("%s: %v, want %s", c.name, p, c.size)
			continue
		}
		for i, want := range c.want {
			if got := p.Channels[i].Pix; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: channel %d is %v, want %v", c.name, i, got, want)
			}
		}
	}
}

func TestBadPNM(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"P5", "width"},
		{"P52 2 255 abcd", "white space"},
		{"P5 2", "height"},
		{"P5 2 2", "maximum"},
		{"P5 2 2 255", "unexpected EOF"},
		{"P5 2x2 255 ", `'x' at byte 4`},
		{"P5 -2 2 255 ", "want a number"},
		{"P5 0 2 255 ", "0x2"},
		{"P5 2 0 255 ", "2x0"},
		{"P5 2 2 0 abcd", "maximum 0"},
		{"P5 2 2 65536 abcd", "maximum 65536"},
		{"P5 2 2 99999999999 abcd", "2^30"},
		{"P5 65536 65536 255 ", "limit"},
		{"P6 16384 16384 255 ", "limit"},
		{"P5 1073741823 1073741823 255 ", "limit"},
		{"P5 16384 16384 255 ", "cut short: 0 of 268435456"},
		{"P2 16384 16384 255 1 2 3", "cut short"},
		{"P5 2 2 255Xabcd", "white space and the samples"},
		{"P5 2 2 255 abc", "3 of 4 samples"},
		{"P5 2 1 256 abc", "1 of 2 samples"},
		{"P5 2 1 100 \x01\xff", "sample (1, 0) is 255, above the maximum of 100"},
		{"P2 2 1 100 1 101", "sample (1, 0) is 101"},
		{"P2 2 1 100 1 -1", "want a number"},
		{"P2 2 1 100 1 # 2", "unexpected EOF"},
	} {
		p, err := Decode(strings.NewReader(c.data))
		if err == nil || fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v, want an error about %s", c.data, p, err, c.want)
		}
	}
	if _, err := Decode(strings.NewReader("P5 2 2 255 abc")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v is not %v", err, io.ErrUnexpectedEOF)
	}
}

func TestTextLines(t *testing.T) {
	p := random(2, 50, 3, 3, 65535)
	p.Text = true
	for i, line := range bytes.Split(encode(t, ".ppm", p), []byte("\n")) {
		if len(line) > 70 {
			t.Errorf("line %d has %d characters", i, len(line))
		}
	}
}

// FuzzPNM checks that a picture that Decode reads survives writing and reading.
func FuzzPNM(f *testing.F) {
	for _, seed := range []string{
		"P2\n# a\n2 2\n255\n1 2 3 4\n", "P3 1 1 65535 1 2 3", "P5 2 2 255 abcd", "P6 1 1 256 abcdef", "P5 1 1 1#\n\x01",
		"P2 16384 16384 1 0", "P5 99999999999 1 1 ", "P2 1 1 #",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { reread(t, data, "P2", "P3", "P5", "P6") })
}

// reread checks data if it begins with one of the prefixes.
func reread(t *testing.T, data []byte, prefixes ...string) {
	if !magic(prefixes...)(string(data)) {
		return
	}
	p, err := Decode(bytes.NewReader(data))
	if err != nil {
		if fault.KindOf(err) != fault.BadData {
			t.Errorf("%v is of kind %d", err, fault.KindOf(err))
		}
		return
	}
	ext := ".pnm"
	if len(p.Channels) == 4 {
		ext = ".png"
	}
	if p.Max == 0 {
		if p.checkFinite(p.FloatBits) != nil {
			return
		}
		if ext = ".pfm"; p.FloatBits == 64 {
			ext = ".npy"
		}
	}
	q, err := Decode(bytes.NewReader(encode(t, ext, p)))
	if err == nil {
		err = same(q, p)
	}
	if err != nil {
		t.Errorf("%v, written and read again: %v", p, err)
	}
}
