package still

import "testing"

// FuzzCompressed checks that a PNG or TIFF picture that Decode reads survives writing and
// reading.
func FuzzCompressed(f *testing.F) {
	for _, ext := range []string{".png", ".tif"} {
		for channels := range 4 {
			if channels != 1 { // no format has two channels
				f.Add(encode(f, ext, random(1, 3, 2, channels+1, 255)))
				f.Add(encode(f, ext, random(2, 2, 3, channels+1, 65535)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { reread(t, data, "\x89PNG", "II*\x00", "MM\x00*") })
}
