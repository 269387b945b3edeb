package media_test

import (
	"errors"
	"io"
	"math/big"
	"path/filepath"
	"testing"

	"retime/pipeline/media"
)

// Raw streams have no timestamps: their frames, interlaced or not, have the rate that the codec states, from the first to the
// last. A stream that is too short to be measured has it, too.
func TestRatesOfRawStreams(t *testing.T) {
	dir := t.TempDir()
	interlaced := []string{"-flags", "+ildct+ilme"}
	for _, c := range []struct {
		name, rate, codec string
		args              []string
	}{
		{"12.h264", "12", "libx264", nil}, {"24.h264", "24", "libx264", nil}, {"30.h264", "30", "libx264", nil}, {"50.h264", "50", "libx264", nil},
		{"ntsc.h264", "30000/1001", "libx264", nil}, {"25i.h264", "25", "libx264", interlaced}, {"30i.h264", "30", "libx264", interlaced},
		{"30.hevc", "30", "libx265", []string{"-x265-params", "log-level=none"}},
		{"50.m4v", "50", "mpeg4", nil}, {"30.m2v", "30", "mpeg2video", nil}, {"25i.m2v", "25", "mpeg2video", interlaced},
		{"short.ts", "30", "libx264", []string{"-frames:v", "1"}},
	} {
		name := filepath.Join(dir, c.name)
		ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.5:r=" + c.rate, "-c:v", c.codec}, c.args...), name)...)
		r, err := media.Open(t.Context(), name, media.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rate, _ := new(big.Rat).SetString(c.rate)
		v := r.Video()
		if v.Rate == nil || v.Rate.Cmp(rate) != 0 || v.Average != nil && v.Average.Cmp(rate) != 0 {
			t.Errorf("%s: rate %v, on average %v", c.name, v.Rate, v.Average)
		}
		period := new(big.Rat).Inv(rate)
		n := int64(0)
		for ; ; n++ {
			f, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			at := new(big.Rat).Mul(v.TimeBase, big.NewRat(f.PTS-v.FirstPTS, 1))
			if off := new(big.Rat).Sub(at, new(big.Rat).Mul(period, big.NewRat(n, 1))); off.Abs(off).Cmp(v.TimeBase) > 0 {
				t.Fatalf("%s: frame %d is shown at %v s", c.name, n, at)
			}
			f.Release()
		}
		if want := int64(rate.Num().Int64() / rate.Denom().Int64() / 2); c.name != "short.ts" && n != want && n != want+1 {
			t.Errorf("%s: %d frames", c.name, n)
		}
	}
}
