package warp

import "testing"

// The test tries each pair of values in each lane, among other values that must not
// matter.
func TestLanes(t *testing.T) {
	for lane := range lanes {
		for a := range 256 {
			for b := range 256 {
				u, v := uint64(a)<<(8*lane), uint64(b)<<(8*lane)
				for _, around := range [][2]uint64{{0, 0}, {^uint64(0), 0}, {0, ^uint64(0)}, {0x7f80007f80ff0180, 0x807f01ff00807f80}} {
					keep := ^(uint64(0xff) << (8 * lane))
					s, w := u|around[0]&keep, v|around[1]&keep
					less, more := order(s, w)
					at := func(x uint64) int { return int(x >> (8 * lane) & 0xff) }
					if at(less) != min(a, b) || at(more) != max(a, b) {
						t.Fatalf("lane %d: %d and %d are ordered %d, %d", lane, a, b, at(less), at(more))
					}
					want := 0
					if a >= b {
						want = 0x80
					}
					if got := at(atLeast(s, w)); got != want {
						t.Fatalf("lane %d: %d at least %d: %#x", lane, a, b, got)
					}
				}
			}
		}
	}
}

func TestLoadLanes(t *testing.T) {
	row := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for x, want := range []uint64{0x0807060504030201, 0x0908070605040302, 0x0009080706050403} {
		if got := loadLanes(row, x); got != want {
			t.Errorf("from %d: %#x, want %#x", x, got, want)
		}
	}
}
