package pipeline

import (
	"context"
	"errors"
	"io"
	"math/big"
	"path/filepath"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// However few frames are read at a time, all come, once, in falling order.
func TestBackwardSource(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "gop.nut")
	cliptest.FFmpeg(t, "-i", cliptest.WriteScene(t, 32, 32, 60, 24, 1), "-c:v", "libx264", "-qp", "0", "-bf", "2", "-g", "25", clip)
	open := func(from, to *big.Rat) (*media.Reader, error) {
		return media.Open(context.Background(), clip, media.ReaderOptions{From: media.Start{At: from}, To: to})
	}
	for _, c := range []struct {
		room, from, to int64 // in frames
		halves         int64 // of a frame added to both
		first, last    int64
	}{{4, 0, 60, 0, 59, 0}, {100, 0, 60, 0, 59, 0}, {7, 10, 40, 0, 40, 10}, {7, 10, 40, 1, 41, 10}, {5, 0, 200, 0, 59, 0}} {
		r, err := open(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		clock := timeline.NewClock(r.Video())
		b := newBackward(open, r.Video(), clock, big.NewRat(2*c.from+c.halves, 48), big.NewRat(2*c.to+c.halves, 48))
		b.room = int(c.room)
		r.Close()
		want := c.first
		for {
			f, err := b.Read()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if got := clock.At(f.PTS); got.Cmp(big.NewRat(want, 24)) != 0 {
				t.Fatalf("%+v: a frame at %s, want %d/24", c, got.RatString(), want)
			}
			if len(b.ahead) > b.room {
				t.Errorf("%+v: %d frames wait", c, len(b.ahead))
			}
			f.Release()
			want--
		}
		if want > c.last-1 || c.last > 0 && want < c.last-1-c.room {
			t.Errorf("%+v: the last frame is %d, want %d", c, want+1, c.last)
		}
	}
}
