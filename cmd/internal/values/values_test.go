package values

import (
	"slices"
	"testing"

	"retime/pipeline/fault"
)

func TestDevices(t *testing.T) {
	for _, c := range []struct {
		list string
		want []int
	}{
		{"0", []int{0}}, {"1,0", []int{1, 0}}, {" 2 , 3", []int{2, 3}},
		{"", nil}, {"-1", nil}, {"0,", nil}, {"a", nil}, {"1,1", nil}, {"0;1", nil},
	} {
		got, err := Devices(c.list)
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) || err != nil && fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %v, %v; want %v", c.list, got, err, c.want)
		}
	}
}
