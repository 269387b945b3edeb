package media

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Five of the twelve frames of paff.mkv are pairs of fields, with a packet for each, as on Blu-ray and in broadcasts. JM 19.0 has
// made it (PicInterlace=2) of the demo's pictures.
const paff = "../../testdata/paff.mkv"

// The second field is no frame: it counts in no rate and no length, in a container or without. FFmpeg's threads say of frames made
// of two fields that they are damaged, if other frames are not made so, and go on to if one frame is.
func TestFieldPairs(t *testing.T) {
	raw, broken := filepath.Join(t.TempDir(), "paff.h264"), filepath.Join(t.TempDir(), "broken.h264")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-i", paff, "-c", "copy", "-bsf:v", "h264_mp4toannexb", raw).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stream, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	units := bytes.SplitAfter(stream, []byte{0, 0, 1})
	for i, slices := 0, 0; i < len(units); i++ {
		if len(units[i]) > 0 && units[i][0]&0x1f == 1 { // nal_unit_type
			if slices++; slices == 9 {
				units[i] = bytes.Repeat([]byte{0xff}, len(units[i])-3)
				units[i] = append(append([]byte{units[i-1][0] | 0x41}, units[i]...), 0, 0, 1)
			}
		}
	}
	if err := os.WriteFile(broken, bytes.Join([][]byte{bytes.Join(units, nil), stream, stream}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		threads, damaged int // as many frames at most
	}{{paff, 1, 0}, {paff, 2, 0}, {paff, 0, 0}, {raw, 1, 0}, {raw, 4, 0}, {broken, 1, 3}, {broken, 4, 3}} {
		r, err := Open(t.Context(), c.name, ReaderOptions{Threads: c.threads})
		if err != nil {
			t.Fatal(err)
		}
		frames, damaged := 0, 0
		v := r.Video()
		for ; ; frames++ {
			f, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if f.Damaged {
				damaged++
			}
			for ticks, want := range map[int64]*big.Rat{f.PTS - v.FirstPTS: big.NewRat(int64(frames), 25), f.Duration: big.NewRat(1, 25)} {
				if is := new(big.Rat).Mul(v.TimeBase, big.NewRat(ticks, 1)); is.Cmp(want) != 0 && c.name != broken {
					t.Errorf("%s: frame %d: %v s, want %v", filepath.Base(c.name), frames, is, want)
				}
			}
			f.Release()
		}
		if damaged > c.damaged {
			t.Errorf("%s, %d threads: %d frames are damaged", filepath.Base(c.name), c.threads, damaged)
		}
		if v.Rate.Cmp(big.NewRat(25, 1)) != 0 || c.name != broken && frames != 12 || c.name == paff && v.Duration.Cmp(big.NewRat(12, 25)) != 0 {
			t.Errorf("%s: %d frames at %v, %v s", filepath.Base(c.name), frames, v.Rate, v.Duration)
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
