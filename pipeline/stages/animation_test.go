package stages_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"retime/pipeline"
	"retime/testdata/scene"
)

// box is a place in a picture of 192x108: left, top, right, bottom.
type box [4]int

// writePictures writes pictures of 192x108 by their luma and colour.
func writePictures(t *testing.T, n int, draw func(n int) (y, u, v []uint8)) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pictures.y4m")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, "YUV4MPEG2 W192 H108 F24:1 Ip A1:1 C420jpeg\n")
	for i := range n {
		y, u, v := draw(i)
		fmt.Fprintf(f, "FRAME\n%s%s%s", y, u, v)
	}
	return name
}

// counting is a moving scene with a counter in a black box, whose digit is new in each picture.
func counting(n int) (y, u, v []uint8) {
	p := scene.Draw(192, 108, float64(n)/24)
	y, u, v = bytes.Clone(p.Y), bytes.Clone(p.U), bytes.Clone(p.V)
	segments := [...]box{{4, 2, 12, 4}, {2, 4, 4, 12}, {12, 4, 14, 12}, {4, 12, 12, 14}, {2, 14, 4, 22}, {12, 14, 14, 22}, {4, 22, 12, 24}}
	for j := range 54 {
		for i := range 44 {
			y[(8+j)*192+8+i] = 16
			u[(8+j)/2*96+(8+i)/2], v[(8+j)/2*96+(8+i)/2] = 128, 128
		}
	}
	for k, s := range segments {
		if (n*37+11)>>k&1 == 0 {
			continue
		}
		for j := s[1]; j < s[3]; j++ {
			for i := s[0]; i < s[2]; i++ {
				y[(22+j)*192+22+i] = 235
			}
		}
	}
	return y, u, v
}

// same reports whether two pictures of 192x108 have the same luma in a box.
func (b box) same(p, q []byte) bool {
	for y := b[1]; y < b[3]; y++ {
		if !bytes.Equal(p[y*192+b[0]:y*192+b[2]], q[y*192+b[0]:y*192+b[2]]) {
			return false
		}
	}
	return true
}

// With the tune, a counter always shows a number, and all else is as without it.
func TestCounters(t *testing.T) {
	clip := writePictures(t, 6, counting)
	source, _, _ := readAll(t, clip)
	made := func(tune pipeline.Tune, decisions ...pipeline.Decision) [][]byte {
		o := lossless(t, clip)
		o.Synthesis.Decisions = decisions
		o.Input.Tune, o.Timing.Rate = tune, pipeline.Rate{Value: ratio("3"), Multiple: true}
		mustRun(t, o)
		got, _, _ := readAll(t, o.Output.File)
		return got
	}
	counter, rest := box{20, 20, 40, 50}, box{96, 0, 192, 108}
	plain, tuned := made(""), made(pipeline.Animation)
	doubled := 0
	for k := range tuned[:len(tuned)-2] {
		if nearer := source[(k+1)/3]; !counter.same(tuned[k], nearer) {
			t.Errorf("frame %d does not show the number of the nearer picture", k)
		} else if !counter.same(plain[k], nearer) {
			doubled++
		}
		if !rest.same(tuned[k], plain[k]) {
			t.Errorf("frame %d: something changed beside the counter", k)
		}
	}
	if doubled == 0 {
		t.Error("without the tune, every number is whole as well")
	}
	again := made(pipeline.Animation, pipeline.Decision{Frame: 1, Method: pipeline.Interpolated, Line: 1}, pipeline.Decision{Frame: 2, Method: pipeline.Interpolated, Line: 2})
	if !slices.EqualFunc(again, tuned, bytes.Equal) {
		t.Error("decisions that say what is so anyway change frames")
	}
}

// Nothing leads from one picture to the next here: with the tune, frames are not cross-faded.
func TestAnimationIsNotCrossFaded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	clip := writePictures(t, 3, func(int) (y, u, v []uint8) {
		all := make([]uint8, 192*108*3/2)
		for i := range all {
			all[i] = uint8(16 + r.IntN(220))
		}
		return all[:192*108], all[192*108 : 192*108*5/4], all[192*108*5/4:]
	})
	source, _, _ := readAll(t, clip)
	for _, tune := range []pipeline.Tune{"", pipeline.Animation} {
		o := lossless(t, clip)
		o.Input.Tune, o.Timing.Rate = tune, pipeline.Rate{Value: ratio("3"), Multiple: true}
		o.Synthesis.SceneThreshold, o.Synthesis.BlendBelow, o.Synthesis.NearestBelow = new(2.), new(1.), new(0.)
		mustRun(t, o)
		got, _, _ := readAll(t, o.Output.File)
		for k := range 7 {
			shot := bytes.Equal(got[k], source[(k+1)/3])
			if want := k%3 == 0 || tune == pipeline.Animation; shot != want {
				t.Errorf("tune %q: frame %d is the nearer picture: %v", tune, k, shot)
			}
		}
		o.Synthesis.Decisions = []pipeline.Decision{{Frame: 1, Method: pipeline.Blended, Line: 1}}
		o.Output.Overwrite = true
		mustRun(t, o)
		if got, _, _ := readAll(t, o.Output.File); bytes.Equal(got[1], source[0]) {
			t.Errorf("tune %q: a frame that is to be cross-faded is the nearer picture", tune)
		}
	}
}

// The tune retimes repeats unless somebody wants to keep them.
func TestAnimationOnTwos(t *testing.T) {
	for _, c := range []struct {
		tune    pipeline.Tune
		how     pipeline.Duplicates
		dropped int64
	}{
		{"", "", 0},
		{pipeline.Animation, "", 3},
		{pipeline.Animation, pipeline.KeepDuplicates, 0},
	} {
		o := lossless(t, onTwos(t, 192, 108, []int{2, 2, 2, 2}))
		o.Input.Tune, o.Synthesis.Duplicates = c.tune, c.how
		if r := mustRun(t, o); r.Repeats != c.dropped {
			t.Errorf("%+v: %d repeats retimed", c, r.Repeats)
		}
	}
}
