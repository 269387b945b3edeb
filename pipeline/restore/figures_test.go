package restore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/curve"
	"retime/pipeline/media"
)

// go test ./pipeline/restore -run Figures -v -timeout 2h -args -figures
var (
	figures       = flag.Bool("figures", false, "measure restoration on the real clips beside minterpolate, which takes minutes")
	figuresClips  = flag.String("figures-clips", "d0[1-7]*", "which clips")
	figuresKeep   = flag.String("figures-keep", "", "keep damaged clips and minterpolate's frames in `DIR`, and use what is there")
	figuresSeed   = flag.Uint64("figures-seed", 1, "which frames are damaged, and how")
	figuresRival  = flag.String("figures-rival", "", "further options of minterpolate, as :scd=none")
	figuresPreset = flag.String("figures-preset", "", "preset of the restoration")
)

// TestFigures spoils one frame in ten of each clip, lets them be found and restored,
// and prints the table of docs/restoration.md.
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("takes minutes; -args -figures runs it")
	}
	clips := figureClips(t)
	dir := *figuresKeep
	if dir == "" {
		dir = t.TempDir()
	}
	fmt.Println("| clip | damaged | found | recall | precision | minterpolate | retime | others | sound |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	var all trial
	for _, clip := range clips {
		d := damageClip(t, clip, dir)
		rival := d.rival(t)
		got := d.restore(t)
		fmt.Println(got.row(strings.SplitN(filepath.Base(clip), ".", 2)[0], rival))
		for i, n := range d.bad {
			t.Logf("frame %d, %s: minterpolate %.2f, retime %.2f dB", n, d.kinds[n], rival[i], got.db[i])
		}
		all.damaged, all.found, all.right = all.damaged+got.damaged, all.found+got.found, all.right+got.right
		if better := got.quality() - mean(rival); better < 0.5 {
			t.Errorf("%s: %+.2f dB over minterpolate, want 0.5", filepath.Base(clip), better)
		}
		if got.touched > 0 || got.sound == "changed" {
			t.Errorf("%s: %d sound frames touched, sound %s", filepath.Base(clip), got.touched, got.sound)
		}
	}
	recall, precision := all.rates()
	fmt.Printf("recall %.3f, precision %.3f\n", recall, precision)
	if recall < 0.95 || precision < 0.95 {
		t.Errorf("recall %.3f, precision %.3f, want 0.95", recall, precision)
	}
}

// TestJumpFigures leaves out frames of the clips, closes the timestamps and prints how
// many of the places are found as jumps, and how many others.
func TestJumpFigures(t *testing.T) {
	if !*figures {
		t.Skip("takes minutes; -args -figures runs it")
	}
	const apart = 7 // frames
	var dropped, right, wrong int
	for _, clip := range figureClips(t) {
		for round := range uint64(4) { // nothing is left out in the first
			random := rand.New(rand.NewPCG(*figuresSeed, round))
			missing := map[int]bool{}
			for n := apart; round > 0 && n < 200; n += apart + random.IntN(2*apart) {
				for k := range 1 + random.IntN(4)/3 {
					missing[n+k] = true
				}
			}
			d, err := newDetector(&Options{MaxRun: DefaultMaxRun})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			var stamps []int64
			places := map[int64]bool{}
			each(t, clip, func(f *frame.Frame) {
				if n++; missing[n-1] {
					places[int64(len(stamps))-1] = true
				} else if err := d.add(f); err != nil {
					t.Fatal(err)
				} else {
					stamps = append(stamps, int64(len(stamps)))
				}
			})
			dropped += len(places)
			for _, f := range d.finish(stamps) {
				if places[f.First.Number] && f.Kind == Jump {
					right++
				} else {
					wrong++
					t.Logf("%s, round %d: found by mistake: %v", filepath.Base(clip), round, f)
				}
			}
			d.close()
		}
	}
	fmt.Printf("jumps: %d places, %d found, %d others: recall %.3f, precision %.3f\n",
		dropped, right, wrong, float64(right)/float64(dropped), float64(right)/float64(right+wrong))
	if float64(right) < 0.95*float64(right+wrong) {
		t.Errorf("precision below 0.95")
	}
}

// figureClips are the real clips to measure on.
func figureClips(t *testing.T) []string {
	clips, _ := filepath.Glob(filepath.Join("../../../shared/clips", *figuresClips+".*"))
	if len(clips) == 0 {
		t.Skip("needs ../shared/clips")
	}
	return clips
}

// damaged is a clip of which some frames are spoilt.
type damaged struct {
	clip, name string
	rate       string
	bad        []int
	kinds      map[int]Kind
	truth      map[int]*frame.Frame // of the bad ones
	hashes     [][32]byte           // of all frames that are in the file
}

func damageClip(t *testing.T, clip, dir string) *damaged {
	d := &damaged{clip: clip, truth: map[int]*frame.Frame{}}
	d.name = filepath.Join(dir, fmt.Sprintf("%s.%d.mkv", strings.SplitN(filepath.Base(clip), ".", 2)[0], *figuresSeed))
	count := 0
	each(t, clip, func(*frame.Frame) { count++ })
	random := rand.New(rand.NewPCG(*figuresSeed, uint64(count)))
	d.choose(random, count)

	r, err := media.Open(t.Context(), clip, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := r.Video()
	d.rate = v.Rate.RatString()
	os.Remove(d.name)
	w, err := media.Create(t.Context(), d.name, r, media.WriterOptions{Encoder: media.EncoderOptions{Codec: "ffv1", CRF: -1}, Rate: v.Rate, Curve: curve.Constant(new(big.Rat), big.NewRat(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	var last *frame.Frame
	for n := range count {
		f, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		put := f
		if k, bad := d.kinds[n]; bad {
			d.truth[n] = f // kept
			if put = last.Retain(); k != Repeated {
				put.Release()
				put = spoilFrame(t, w, random, f, k)
			}
		}
		d.hashes = append(d.hashes, hash(put))
		if err := w.WriteFrame(put); err != nil {
			t.Fatal(err)
		}
		if last != nil {
			last.Release()
		}
		last = put
	}
	last.Release()
	if _, err := r.Read(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if _, err := w.Finish(false); err != nil {
		t.Fatal(err)
	}
	return d
}

// choose says which of count frames are bad, one in ten: singly, in pairs and in
// threes, with at least two sound ones between.
func (d *damaged) choose(random *rand.Rand, count int) {
	const edge = 3
	d.kinds = map[int]Kind{}
	lengths, kinds := []int{1, 2, 3, 1, 1}, []Kind{Black, Repeated, Garbled}
	shift := random.IntN(len(kinds))
	for i := 0; len(d.bad) < count/10; i++ {
		length := min(lengths[i%len(lengths)], count/10-len(d.bad))
		for {
			n := edge + random.IntN(count-2*edge-length)
			if slices.ContainsFunc(d.bad, func(b int) bool { return b >= n-2 && b < n+length+2 }) {
				continue
			}
			for k := range length {
				d.bad = append(d.bad, n+k)
				d.kinds[n+k] = kinds[(i+shift)%len(kinds)]
			}
			break
		}
	}
	slices.Sort(d.bad)
}

// spoilFrame returns a black frame or a garbled copy of f.
func spoilFrame(t *testing.T, w *media.Writer, random *rand.Rand, f *frame.Frame, k Kind) *frame.Frame {
	g, err := w.NewFrame(f)
	if err != nil {
		t.Fatal(err)
	}
	frame.Copy(g, f)
	if f.Format.Bytes() == 2 {
		spoilSamples[uint16](random, g, k)
	} else {
		spoilSamples[uint8](random, g, k)
	}
	return g
}

func spoilSamples[T frame.Sample](random *rand.Rand, g *frame.Frame, k Kind) {
	grey := T(1) << (g.Format.Depth - 1)
	luma := frame.Samples[T](g.Planes[0])
	if k == Black {
		for y := range luma.Height {
			fillRow(luma.Row(y), grey/8)
		}
		for _, p := range g.Planes[1:] {
			m := frame.Samples[T](p)
			for y := range m.Height {
				fillRow(m.Row(y), grey)
			}
		}
		return
	}
	switch random.IntN(5) {
	case 0:
		shuffle(random, luma, 0)
	case 1: // a lost lower half
		shuffle(random, luma, luma.Height/2)
	case 2: // noise
		for y := range luma.Height {
			row := luma.Row(y)
			for x := range row {
				row[x] = T(random.IntN(2 * int(grey)))
			}
		}
	case 3:
		for y := luma.Height / 2; y < luma.Height; y++ {
			fillRow(luma.Row(y), grey)
		}
	case 4: // torn off sideways
		for y := range luma.Height {
			row := luma.Row(y)
			s := slices.Clone(row[:luma.Width/3])
			copy(row, row[luma.Width/3:])
			copy(row[luma.Width-len(s):], s)
		}
	}
}

func fillRow[T frame.Sample](row []T, v T) {
	for x := range row {
		row[x] = v
	}
}

// shuffle exchanges blocks of 32 by 32 samples below a row.
func shuffle[T frame.Sample](random *rand.Rand, m frame.Image[T], from int) {
	const side = 32
	columns, rows := m.Width/side, (m.Height-from)/side
	random.Shuffle(columns*rows, func(i, j int) {
		xi, yi, xj, yj := i%columns*side, from+i/columns*side, j%columns*side, from+j/columns*side
		for y := range side {
			a, b := m.Row(yi + y)[xi:xi+side], m.Row(yj + y)[xj:xj+side]
			for x := range a {
				a[x], b[x] = b[x], a[x]
			}
		}
	})
}

// rival returns the PSNR of minterpolate's frames on the clip without the bad ones.
func (d *damaged) rival(t *testing.T) (db []float64) {
	cache := d.name + ".minterpolate" + *figuresRival + ".json"
	if data, err := os.ReadFile(cache); err == nil && json.Unmarshal(data, &db) == nil {
		return db
	}
	made := filepath.Join(t.TempDir(), "rival.nut")
	var not []string
	for _, n := range d.bad {
		not = append(not, fmt.Sprintf("eq(n,%d)", n))
	}
	ffmpeg(t, "-i", d.name, "-an", "-vf", fmt.Sprintf("settb=1/(%s),setpts=N,select='not(%s)',minterpolate=fps=%s%s", d.rate, strings.Join(not, "+"), d.rate, *figuresRival),
		"-fps_mode", "passthrough", "-c:v", "rawvideo", "-pix_fmt", d.truth[d.bad[0]].Format.Name, made)
	defer os.Remove(made)
	n := 0
	k := 0
	rate, _ := new(big.Rat).SetString(d.rate)
	r, err := media.Open(t.Context(), made, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for k < len(d.bad) {
		f, err := r.Read()
		if err != nil {
			t.Fatalf("minterpolate: frame %d of %v: %v", n, d.bad, err)
		}
		at := new(big.Rat).Mul(r.Video().TimeBase, big.NewRat(f.PTS, 1))
		at.Sub(at, r.Video().Start)
		number, _ := at.Mul(at, rate).Float64()
		if math.Abs(number-float64(d.bad[k])) < 0.25 {
			db = append(db, lumaPSNR(f, d.truth[d.bad[k]]))
			k++
		}
		f.Release()
		n++
	}
	data, _ := json.Marshal(db)
	if err := os.WriteFile(cache, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return db
}

// trial is what came of a restoration.
type trial struct {
	damaged, found, right int
	touched               int       // frames that were sound and are not as they were
	db                    []float64 // of the bad frames
	methods               []string
	sound                 string
}

func (d *damaged) restore(t *testing.T) *trial {
	got := &trial{damaged: len(d.bad)}
	o := Options{Detect: true, Convert: pipeline.Options{
		Input:     pipeline.Input{File: d.name},
		Output:    pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"},
		Compute:   pipeline.Compute{Backend: pipeline.CPU},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Preset(*figuresPreset)},
	}}
	o.Log = func(e Entry) {
		got.methods = append(got.methods, fmt.Sprintf("%d %s %.2f %s %v", e.Source, e.Kind, e.Confidence, e.Method, e.Neighbours))
	}
	report := mustRun(t, o)
	for _, f := range report.Findings {
		for n := f.First.Number; n <= f.Last.Number; n++ {
			got.found++
			if slices.Contains(d.bad, int(n)) {
				got.right++
			} else {
				t.Logf("found by mistake: %v", f)
			}
		}
	}
	n := 0
	each(t, o.Convert.Output.File, func(f *frame.Frame) {
		if want, bad := d.truth[n]; bad {
			got.db = append(got.db, lumaPSNR(f, want))
		} else if hash(f) != d.hashes[n] {
			got.touched++
		}
		n++
	})
	if n != len(d.hashes) {
		t.Errorf("%d frames of %d", n, len(d.hashes))
	}
	got.sound = "none"
	if before := soundHash(t, d.clip); before != "" {
		if got.sound = "same"; soundHash(t, o.Convert.Output.File) != before {
			got.sound = "changed"
		}
	}
	os.Remove(o.Convert.Output.File)
	return got
}

func (r *trial) rates() (recall, precision float64) {
	return float64(r.right) / float64(r.damaged), float64(r.right) / float64(max(r.found, 1))
}

func (r *trial) quality() float64 { return mean(r.db) }

func (r *trial) row(name string, rival []float64) string {
	recall, precision := r.rates()
	return fmt.Sprintf("| %s | %d | %d | %.3f | %.3f | %.2f | %.2f (%+.2f) | %d touched | %s |",
		name, r.damaged, r.found, recall, precision, mean(rival), r.quality(), r.quality()-mean(rival), r.touched, r.sound)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// soundHash is of the packets of the sound; empty where there is none.
func soundHash(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", name, "-map", "0:a", "-c", "copy", "-f", "streamhash", "-").Output()
	if err != nil {
		return "" // no such stream
	}
	return string(out)
}

// each calls use with every frame of a file.
func each(t testing.TB, name string, use func(*frame.Frame)) {
	t.Helper()
	r, err := media.Open(context.Background(), name, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		use(f)
		f.Release()
	}
}

func hash(f *frame.Frame) [32]byte {
	h := sha256.New()
	for i, p := range f.Planes {
		w, n := f.Format.PlaneSize(i, f.Width, f.Height)
		for y := range n {
			h.Write(p.Pix[y*p.Stride:][:w*f.Format.Bytes()])
		}
	}
	return [32]byte(h.Sum(nil))
}

// lumaPSNR is in dB.
func lumaPSNR(a, b *frame.Frame) float64 {
	if a.Format.Bytes() == 2 {
		return samplesPSNR[uint16](a, b)
	}
	return samplesPSNR[uint8](a, b)
}

func samplesPSNR[T frame.Sample](a, b *frame.Frame) float64 {
	p, q := frame.Samples[T](a.Planes[0]), frame.Samples[T](b.Planes[0])
	sum := 0.0
	for y := range p.Height {
		rp, rq := p.Row(y), q.Row(y)
		for x := range rp {
			d := float64(rp[x]) - float64(rq[x])
			sum += d * d
		}
	}
	peak := float64(a.Format.Max())
	return 10 * math.Log10(peak*peak*float64(p.Width*p.Height)/max(sum, 1))
}
