package frame

import "testing"

func TestLeadingZeros(t *testing.T) {
	for n := range 20 {
		row := make([]uint8, n)
		if got := LeadingZeros(row); got != n {
			t.Errorf("%d zeros: %d", n, got)
		}
		for first := range n {
			row[first] = 1
			if got := LeadingZeros(row); got != first {
				t.Errorf("%d bytes, zeros up to %d: %d", n, first, got)
			}
			row[first] = 0
		}
	}
}
