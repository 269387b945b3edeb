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

func TestMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "700M": 700 << 20, "1.5G": 3 << 29, "0.5M": 1 << 19,
		"": 0, "0": 0, "-1": 0, "G": 0, "1K": 0, "1 G": 0, "NaN": 0, "Inf": 0, "1e30G": 0,
	} {
		got, err := Memory(text)
		if got != want || (err == nil) != (want > 0) || err != nil && fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}
