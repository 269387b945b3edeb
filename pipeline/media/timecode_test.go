package media

import (
	"math/big"
	"testing"
)

func TestConvertTimecode(t *testing.T) {
	ntsc := func(n int64) *big.Rat { return big.NewRat(n*1000, 1001) }
	whole := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	for _, c := range []struct {
		code     string
		from, to *big.Rat
		after    *big.Rat // in seconds
		want     string   // empty for an error
	}{
		{"01:00:00:40", whole(50), whole(25), whole(0), "01:00:00:20"},
		{"01:00:00:20", whole(24), whole(60), whole(0), "01:00:00:50"},
		{"00:00:59;20", ntsc(30), ntsc(60), whole(0), "00:00:59;40"},
		{"00:01:00;02", ntsc(30), ntsc(60), whole(0), "00:01:00;04"},
		{"00:01:00;05", ntsc(60), ntsc(30), whole(0), "00:01:00;02"},
		{"01:00:00:59", whole(60), whole(30), whole(0), "01:00:00:29"},
		{"01:00:00:00", whole(24), whole(24), big.NewRat(1, 2), "01:00:00:12"},
		{"01:00:00:00", whole(24), whole(48), big.NewRat(1, 2), "01:00:00:24"},
		{"01:00:00:00", whole(24), whole(24), big.NewRat(458, 1000), "01:00:00:11"}, // Matroska's 11/24 s
		{"01:00:00:00", whole(24), whole(96), big.NewRat(1, 48), "01:00:00:02"},     // between two frames
		{"00:00:59;20", ntsc(30), ntsc(30), big.NewRat(1001, 3000), "00:01:00;02"},  // 10 frames on
		{"23:59:59:23", whole(24), whole(24), big.NewRat(1, 24), "00:00:00:00"},
		{"01:00:00:10", whole(25), whole(25), whole(-1), "01:00:00:10"},
		// Rates that drop no frames.
		{"00:00:59;15", ntsc(30), ntsc(24), whole(0), "00:00:59:12"},
		{"00:00:59;15", ntsc(30), whole(24), whole(0), "00:00:59:12"},
		{"00:00:59;15", ntsc(30), whole(50), whole(0), "00:00:59:25"},
		{"00:00:59;15", ntsc(30), whole(30), whole(0), "00:00:59:15"},
		{"00:00:59:12", ntsc(24), ntsc(60), whole(0), "00:00:59:30"},
		{"01:00:00:20", whole(24), whole(300), whole(0), ""},
		{"01:00:00;20", whole(24), whole(24), whole(0), ""},
		{"tape 7", whole(24), whole(24), whole(0), ""},
	} {
		got, err := convertTimecode(c.code, c.from, c.to, c.after)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s at %s, %s s on, at %s: %q, %v; want %q", c.code, c.from.RatString(), c.after.RatString(), c.to.RatString(), got, err, c.want)
		}
	}
}
