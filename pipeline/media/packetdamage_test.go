package media

import (
	"slices"
	"testing"
)

// Every damaged byte of a picture in FFV1 with checksums is seen, and pictures without them are no damaged ones.
func TestSlicesOfFFV1(t *testing.T) {
	clip := testClip(t, 48, 32, 2)
	for _, c := range []struct {
		options map[string]string
		summed  bool
	}{{nil, true}, {map[string]string{"slices": "12"}, true}, {map[string]string{"slicecrc": "0"}, false}, {map[string]string{"level": "1"}, false}} {
		for n, p := range encodeAll(t, clip, "a.mkv", plainOptions(EncoderOptions{Codec: "ffv1", CRF: -1, Options: c.options})) {
			if good, all := checkSlices(p.Data); good != all || good > 0 != c.summed {
				t.Errorf("%v, packet %d: %d of %d slices have their checksum", c.options, n, good, all)
			}
			for i := range p.Data {
				if !c.summed {
					break
				}
				bad := slices.Clone(p.Data)
				bad[i] ^= 4
				if good, all := checkSlices(bad); all > 0 && good == all {
					t.Fatalf("%v, packet %d: byte %d may change unseen", c.options, n, i)
				}
			}
		}
	}
}
