package restore

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/testdata/scene"
)

// stain inverts a rectangle of luma. It draws frames of width pixels.
func stain(width, x0, y0, w, h, step int) func(*scene.Picture) {
	return func(p *scene.Picture) {
		for y := y0; y < y0+h; y += step {
			for x := x0; x < x0+w; x++ {
				if v := &p.Y[y*width+x]; *v > 127 {
					*v -= 110
				} else {
					*v += 110
				}
			}
		}
	}
}

// Damage to parts is found, written to a list, and repaired from there, and all else stays.
func TestParts(t *testing.T) {
	const width, height = 320, 180
	name := writeClip(t, width, height, steady(24), map[int]func(*scene.Picture){6: stain(width, 40, 61, 60, 2, 1), 15: stain(width, 208, 32, 32, 32, 1)})
	truth, _ := readAll(t, writeClip(t, width, height, steady(24), nil))
	o := options(t, name)
	o.Detect, o.DryRun = true, true
	if found := mustRun(t, o).Findings; len(found) != 0 {
		t.Errorf("found %v, which nobody looks for", found)
	}
	o.Find = partKinds
	found := mustRun(t, o).Findings
	if len(found) != 2 || found[0].Kind != Dropout || found[0].First.Number != 6 || found[0].Regions == nil || found[1].Kind != Block || found[1].First.Number != 15 {
		t.Fatalf("found %v", found)
	}
	for _, c := range []struct {
		find []Kind
		want int
	}{{[]Kind{Dropout}, 1}, {[]Kind{Block, Dirt}, 1}, {[]Kind{Black}, 0}} {
		if o.Find = c.find; len(mustRun(t, o).Findings) != c.want {
			t.Errorf("%v: want %d findings", c.find, c.want)
		}
	}
	var list strings.Builder
	if err := WriteList(&list, found); err != nil {
		t.Fatal(err)
	}
	repair := options(t, name)
	var err error
	if repair.Damage, err = ParseList(strings.NewReader(list.String())); err != nil {
		t.Fatal(err)
	}
	mustRun(t, repair)
	was, _ := readAll(t, name)
	got, _ := readAll(t, repair.Convert.Output.File)
	for n := range got {
		if n != 6 && n != 15 && !frame.Equal(got[n], was[n]) {
			t.Errorf("frame %d has changed", n)
		}
	}
	for i, n := range []int{6, 15} {
		r, m, w := found[i].Regions[0], frame.Samples[uint8](got[n].Planes[0]), frame.Samples[uint8](was[n].Planes[0])
		changed := 0
		for y := range height {
			for x := range width {
				away := max(r.X-x, x-r.X-r.Width+1, 0) + max(r.Y-y, y-r.Y-r.Height+1, 0)
				if m.Row(y)[x] == w.Row(y)[x] {
					continue
				}
				if changed++; away > seam {
					t.Fatalf("frame %d: %d, %d has changed", n, x, y)
				}
			}
		}
		if changed == 0 || psnr(got[n], truth[n]) < psnr(was[n], truth[n])+6 {
			t.Errorf("frame %d: %d pixels changed, %.2f dB, as it was %.2f", n, changed, psnr(got[n], truth[n]), psnr(was[n], truth[n]))
		}
	}
}

// Jitter that spoils the frame is jitter, too, if only that is looked for.
func TestPartsThatSpoil(t *testing.T) {
	const width, height = 320, 180
	name := writeClip(t, width, height, steady(24), map[int]func(*scene.Picture){6: func(p *scene.Picture) {
		for y := range height {
			row := p.Y[y*width : (y+1)*width]
			by := (7*(y/2)%25 + width - 12) % width
			copy(row, slices.Concat(row[by:], row[:by]))
		}
	}})
	for want, find := range map[Kind][]Kind{Garbled: {Garbled, Jitter}, Jitter: {Jitter}} {
		o := options(t, name)
		o.Detect, o.DryRun, o.Find = true, true, find
		if found := mustRun(t, o).Findings; len(found) != 1 || found[0].Kind != want || found[0].First.Number != 6 {
			t.Errorf("found %v, want %s", found, want)
		}
	}
}

// In fields, a finding has the field's lines.
func TestPartsOfFields(t *testing.T) {
	const width, height = 320, 360
	woven := writeClip(t, width, height, steady(20), map[int]func(*scene.Picture){9: stain(width, 40, 121, 60, 4, 2), 13: stain(width, 30, height-8, 200, 6, 1)})
	name := filepath.Join(t.TempDir(), "woven.mkv")
	cliptest.FFmpeg(t, "-i", woven, "-vf", "setfield=tff", "-c:v", "ffv1", name)
	o := options(t, name)
	o.Detect, o.DryRun, o.Find = true, true, partKinds
	found := mustRun(t, o).Findings
	if len(found) != 1 || found[0].First != (Place{Number: 9, Field: BottomField}) || found[0].Kind != Dropout {
		t.Fatalf("found %v", found)
	}
	if r := found[0].Regions[0]; r.Y > 121 || r.Y+r.Height < 124 || r.Height > 10 {
		t.Errorf("region %+v", r)
	}
}

// Where light changes again and again, no frame is damaged by it; a repeat is found in spite of its noise.
func TestFlickerAndNoise(t *testing.T) {
	const width, height = 192, 108
	lit := map[int]func(*scene.Picture){}
	for n := range 40 {
		if n%3 == 1 {
			lit[n] = brighten
		}
	}
	noise := map[int]func(*scene.Picture){}
	for n := range 40 {
		noise[n] = func(p *scene.Picture) {
			state := uint32(n + 1)
			for i, v := range p.Y {
				state = state*1664525 + 1013904223
				p.Y[i] = uint8(min(max(int(v)+int(state>>29)-4, 0), 255))
			}
		}
	}
	for _, c := range []struct {
		times []float64
		spoil map[int]func(*scene.Picture)
		want  []string
	}{{steady(40), lit, nil}, {held(steady(40), 17), noise, []string{"repeated 17"}}} {
		o := options(t, writeClip(t, width, height, c.times, c.spoil))
		o.Detect, o.DryRun, o.Find = true, true, slices.Concat(wholeKinds, partKinds)
		var got []string
		for _, f := range mustRun(t, o).Findings {
			got = append(got, fmt.Sprintf("%s %v", f.Kind, f.First))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("found %q, want %q", got, c.want)
		}
	}
}
