package media

import (
	"errors"
	"io"
	"math/big"
	"testing"
)

// Five of the twelve frames of paff.mkv are pairs of fields, with a packet for each, as on Blu-ray and in broadcasts. JM 19.0 has
// made it (PicInterlace=2) of the demo's pictures.
const paff = "../../testdata/paff.mkv"

// The second field is no frame: it counts in no rate and no length. FFmpeg says of frames made of two fields that they are
// damaged, if other frames are not.
func TestFieldPairs(t *testing.T) {
	for _, threads := range []int{1, 2, 0} {
		r, err := Open(t.Context(), paff, ReaderOptions{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		frames := 0
		for ; ; frames++ {
			f, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if f.PTS != int64(40*frames) || f.Duration != 40 || f.Damaged {
				t.Errorf("%d threads: frame %d at %d, %d long, damaged %t", threads, frames, f.PTS, f.Duration, f.Damaged)
			}
			f.Release()
		}
		v := r.Video()
		if frames != 12 || v.Rate.Cmp(big.NewRat(25, 1)) != 0 || v.Duration.Cmp(big.NewRat(12, 25)) != 0 || r.Damage() != (Damage{}) {
			t.Errorf("%d threads: %d frames at %v, %v s, %+v", threads, frames, v.Rate, v.Duration, r.Damage())
		}
		r.Close()
	}
}

func TestSecondFields(t *testing.T) {
	r, err := Open(t.Context(), paff, ReaderOptions{Packets: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var before Packet
	packets, second := 0, 0
	for ; ; packets++ {
		p, err := r.NextPacket()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.SecondField {
			second++
		}
		if p.SecondField != (packets > 0 && p.PTS-before.PTS == 20) {
			t.Errorf("packet %d at %d, second field %t", packets, p.PTS, p.SecondField)
		}
		before = p
	}
	if packets != 17 || second != 5 {
		t.Errorf("%d packets, %d second fields", packets, second)
	}
}
