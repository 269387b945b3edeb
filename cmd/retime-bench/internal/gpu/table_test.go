//go:build unix

package gpu

import (
	"bytes"
	"testing"
)

func TestTable(t *testing.T) {
	var out bytes.Buffer
	b := &Bench{Out: &out, Copy: 2e12}
	table := b.NewTable("things", 5, "paper")
	table.Row("one", 0.001, 1e9, "5.99")
	table.Row("two", 0.5, 0, "-")
	want := `things
              ms      GB/s of copy        paper
one       1.0000    1000.0    0.50         5.99
two     500.0000         -       -            -
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{7, 1, 2}, 2}} {
		if m := median(c.v); m != c.want {
			t.Errorf("median of %v: %v, want %v", c.v, m, c.want)
		}
	}
}
