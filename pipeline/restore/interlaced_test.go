package restore

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/restore/fields"
	"retime/warp"
)

// coding is how a test writes an interlaced file.
type coding struct{ ext, codec, format string }

// The rates of interlaced frames.
var pal, ntsc = [2]int{25, 1}, [2]int{30000, 1001}

// weaveScene writes the test scene as interlaced frames, each of two successive pictures, after a filter of
// these.
func weaveScene(t testing.TB, frames int, order string, rate [2]int, filter string, c coding) string {
	t.Helper()
	scene := cliptest.WriteScene(t, 96, 64, 2*frames, 2*rate[0], rate[1])
	name := filepath.Join(t.TempDir(), "woven."+c.ext)
	mode := map[string]string{"tff": "interleave_top", "bff": "interleave_bottom"}[order]
	ffmpeg(t, "-i", scene, "-vf", filter+"format="+c.format+",tinterlace="+mode+",setfield="+order, "-c:v", c.codec, "-pix_fmt", c.format,
		"-flags", "+ildct+ilme+bitexact", "-qscale:v", "2", "-top", map[string]string{"tff": "1", "bff": "0"}[order], name)
	return name
}

// marks returns how a file's stream and frames are marked, each kind of frame once.
func marks(t testing.TB, name string) (order string, frames []string) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "frame=interlaced_frame,top_field_first", "-of", "csv=p=0", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(out)) {
		if line = strings.TrimRight(line, ","); !slices.Contains(frames, line) {
			frames = append(frames, line)
		}
	}
	return cliptest.StreamsOf(t, name, "v", "field_order")[0], frames
}

// fieldPSNR compares the luma of fields.
func fieldPSNR(a, b *frame.Frame, field fields.Set) float64 {
	p, q := fields.View(a, field), fields.View(b, field)
	shift := 1 << (a.Format.Depth - 8)
	var x, y []byte
	level := func(p frame.Plane, x, y int) byte {
		if a.Format.Bytes() == 2 {
			return byte(int(frame.Samples[uint16](p).Row(y)[x]) / shift)
		}
		return frame.Samples[uint8](p).Row(y)[x]
	}
	for v := range p.Height {
		for u := range p.Width {
			x, y = append(x, level(p.Planes[0], u, v)), append(y, level(q.Planes[0], u, v))
		}
	}
	return cliptest.PSNR(x, y)
}

func sameField(a, b *frame.Frame, field fields.Set) bool {
	return frame.Equal(fields.View(a, field), fields.View(b, field))
}

// Fields that are listed are made close to the original, all others stay as they are, and so does what
// the file says of their order.
func TestInterlaced(t *testing.T) {
	codings := []coding{
		{"mkv", "ffv1", "yuv420p"}, {"mkv", "ffv1", "yuv422p10le"}, {"mov", "v210", "yuv422p10le"},
		{"mov", "prores_ks", "yuv422p10le"}, {"mpg", "mpeg2video", "yuv420p"}, {"mkv", "libx264", "yuv420p10le"},
	}
	for i, c := range codings {
		for _, order := range []string{"tff", "bff"} {
			rate := [][2]int{pal, ntsc}[i%2]
			t.Run(fmt.Sprint(c.codec, " ", c.format, " ", order, " ", rate), func(t *testing.T) {
				whole := weaveScene(t, 20, order, rate, "", c)
				truth, _ := readAll(t, whole)
				o := options(t, whole)
				o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}
				o.Damage = frames(t, "3,7.t,10.b,13.t-15.t")
				var log []Entry
				o.Log = func(e Entry) { log = append(log, e) }
				report := mustRun(t, o)
				if report.Made != 6 || report.Conversion.Made != 6 || report.Conversion.Frames != 20 || len(log) != 7 {
					t.Errorf("%d frames made, %d of %d in the conversion, %d in the log", report.Made, report.Conversion.Made, report.Conversion.Frames, len(log))
				}
				lost := map[int]fields.Set{3: fields.Both, 7: fields.Top, 10: fields.Bottom, 13: fields.Top, 14: fields.Top, 15: fields.Top}
				got, _ := readAll(t, o.Convert.Output.File)
				if len(got) != len(truth) {
					t.Fatalf("%d frames of %d", len(got), len(truth))
				}
				for n := range got {
					for _, field := range []fields.Set{fields.Top, fields.Bottom} {
						if lost[n]&field == 0 {
							if !sameField(got[n], truth[n], field) {
								t.Errorf("frame %d, field %d, which is sound, is touched", n, field)
							}
						} else if db := fieldPSNR(got[n], truth[n], field); db < 27 {
							t.Errorf("frame %d, field %d: %.1f dB", n, field, db)
						}
					}
				}
				_, want := marks(t, whole)
				stream, frames := marks(t, o.Convert.Output.File)
				if first := map[string]string{"tff": "tb", "bff": "bt"}[order]; stream != first || !slices.Equal(frames, want) {
					t.Errorf("the stream is %s, the frames are %v; want %s, %v", stream, frames, first, want)
				}
				// The input's own codec keeps the marks, too.
				o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out."+c.ext), VideoCodec: c.codec}
				mustRun(t, o)
				if _, frames := marks(t, o.Convert.Output.File); !slices.Equal(frames, want) {
					t.Errorf("%s: the frames are %v; want %v", c.codec, frames, want)
				}
			})
		}
	}
}

// H.264 says the same of the order of the fields in both places: by when each is due, and by how the picture is shown (pic_struct).
func TestFieldOrderOfH264(t *testing.T) {
	for order, want := range map[string]string{"tff": "tt", "bff": "bb"} {
		o := options(t, weaveScene(t, 4, order, pal, "", coding{"mkv", "ffv1", "yuv420p"}))
		o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.h264"), VideoCodec: "libx264"}
		o.Damage = frames(t, "1")
		mustRun(t, o)
		if got, _ := marks(t, o.Convert.Output.File); got != want {
			t.Errorf("%s: pic_struct says %s, want %s", order, got, want)
		}
	}
}

// No sample of a lost field comes into what is made from its neighbours.
func TestLostFieldCountsNot(t *testing.T) {
	c := coding{"mkv", "ffv1", "yuv420p"}
	made := func(filter, list string) []*frame.Frame {
		o := options(t, weaveScene(t, 12, "tff", pal, filter, c))
		o.Damage = frames(t, list)
		mustRun(t, o)
		got, _ := readAll(t, o.Convert.Output.File)
		return got
	}
	for _, test := range []struct{ box, list string }{{"between(n,10,11)", "5"}, {"eq(n,10)", "5.t"}, {"eq(n,11)", "5.b"}} {
		sound := made("", test.list)
		spoilt := made("drawbox=t=fill:c=white:enable='"+test.box+"',", test.list)
		for n := range sound {
			if !frame.Equal(sound[n], spoilt[n]) {
				t.Errorf("%s: frame %d depends on what is lost", test.list, n)
			}
		}
	}
}

// Frames that show one moment are made as frames, even if the stream is interlaced.
func TestOneMomentInInterlaced(t *testing.T) {
	scene := cliptest.WriteScene(t, 96, 64, 20, 25, 1)
	input := filepath.Join(t.TempDir(), "film.mkv")
	ffmpeg(t, "-i", scene, "-vf", "setfield=tff", "-c:v", "ffv1", input)
	truth, _ := readAll(t, input)
	o := options(t, input)
	o.Damage = frames(t, "5,12.b")
	var log []Entry
	o.Log = func(e Entry) { log = append(log, e) }
	mustRun(t, o)
	if len(log) != 2 || log[0].Field != BothFields || log[1].Field != BottomField || log[0].NeighbourFields != nil || !slices.Equal(log[0].Neighbours, []int64{4, 6}) || log[0].Phase != 0.5 {
		t.Fatalf("%+v", log)
	}
	got, _ := readAll(t, o.Convert.Output.File)
	for n := range got {
		switch {
		case n == 5 && psnr(got[n], truth[n]) < 27, n == 12 && fieldPSNR(got[n], truth[n], fields.Bottom) < 27:
			t.Errorf("frame %d is far off", n)
		case n == 12 && !sameField(got[n], truth[n], fields.Top), n != 5 && n != 12 && !frame.Equal(got[n], truth[n]):
			t.Errorf("frame %d is touched", n)
		}
	}
}

// Where both fields of a frame show one picture, at the clip's ends, each has its lines of it.
func TestInterlacedEnds(t *testing.T) {
	input := weaveScene(t, 6, "tff", pal, "", coding{"mkv", "ffv1", "yuv422p"})
	before, _ := readAll(t, input)
	last := len(before) - 1
	for _, mode := range []warp.Mode{warp.Nearest, warp.Blend} {
		for _, copied := range []bool{false, true} {
			o := options(t, input)
			o.Convert.Synthesis.Mode, o.SmartCopy, o.Damage = mode, copied, frames(t, fmt.Sprintf("0,%d", last))
			o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}
			mustRun(t, o)
			after, _ := readAll(t, o.Convert.Output.File)
			if len(after) != len(before) || !sameField(after[0], before[1], fields.Top) || !sameField(after[last], before[last-1], fields.Bottom) {
				t.Errorf("%v, packets copied %v: the fields are not those beside", mode, copied)
			}
			for n := 1; n < last; n++ {
				if !frame.Equal(after[n], before[n]) {
					t.Errorf("%v, packets copied %v: frame %d changed", mode, copied, n)
				}
			}
		}
	}
}

// Interlaced HEVC comes field by field, so nothing weaves or deinterlaces it.
func TestSingleFields(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50,trim=end_frame=12", "-c:v", "libx265", "-x265-params", "interlace=tff:log-level=error", input)
	for _, c := range []struct {
		mode    pipeline.Deinterlace
		refused bool
	}{{pipeline.RefuseFields, true}, {"field", true}, {pipeline.IgnoreFields, false}} {
		o := options(t, input)
		o.Damage = frames(t, "5")
		o.Convert.Input.Deinterlace = c.mode
		convert := o.Convert
		convert.Output.File = filepath.Join(t.TempDir(), "out.mkv")
		_, converted := pipeline.Run(t.Context(), convert)
		errs := []error{converted}
		if c.mode != "field" { // which restorations do not take
			_, restored := Run(t.Context(), o)
			errs = append(errs, restored)
		}
		for _, err := range errs {
			if refused := fault.KindOf(err) == fault.Usage && strings.Contains(err.Error(), "a picture for each field"); refused != c.refused || !refused && err != nil {
				t.Errorf("%q: %v", c.mode, err)
			}
		}
	}
}

// Damage to one field is found as such, and only that field is made.
func TestDetectFields(t *testing.T) {
	input := weaveScene(t, 30, "bff", pal, "drawbox=t=fill:c=black:enable='eq(n,20)+between(n,30,31)',", coding{"mkv", "ffv1", "yuv420p"})
	o := options(t, input)
	o.Detect = true
	report := mustRun(t, o)
	var found []string
	for _, f := range report.Findings {
		found = append(found, strings.Join(strings.Fields(f.String())[:2], " "))
	}
	if want := []string{"10.b black", "15 black"}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	before, _ := readAll(t, input)
	after, _ := readAll(t, o.Convert.Output.File)
	for n := range before {
		for _, field := range []fields.Set{fields.Top, fields.Bottom} {
			if lost := n == 15 || n == 10 && field == fields.Bottom; lost == sameField(before[n], after[n], field) {
				t.Errorf("frame %d, field %d: lost %v", n, field, lost)
			}
		}
	}
}

// Frames are put in where the timestamps have a gap, with both fields, and a region is replaced in both.
func TestInterlacedInsertAndRegion(t *testing.T) {
	whole := weaveScene(t, 20, "tff", pal, "", coding{"mkv", "ffv1", "yuv420p"})
	truth, _ := readAll(t, whole)
	gap := filepath.Join(t.TempDir(), "gap.mkv")
	ffmpeg(t, "-i", whole, "-vf", "select='not(between(n,8,9))'", "-fps_mode", "passthrough", "-c:v", "ffv1", gap)
	o := options(t, gap)
	var err error
	if o.Damage, err = ParseInsert("7:2"); err != nil {
		t.Fatal(err)
	}
	region, err := ParseRegion("20,16,24,20@14.t")
	if err != nil {
		t.Fatal(err)
	}
	o.Damage = append(o.Damage, region)
	o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}
	mustRun(t, o)
	got, _ := readAll(t, o.Convert.Output.File)
	if len(got) != len(truth) {
		t.Fatalf("%d frames, want %d", len(got), len(truth))
	}
	for n := range got {
		switch {
		case n == 8 || n == 9:
			for _, field := range []fields.Set{fields.Top, fields.Bottom} {
				if db := fieldPSNR(got[n], truth[n], field); db < 22 {
					t.Errorf("frame %d, field %d: %.1f dB", n, field, db)
				}
			}
		case n == 16: // 14 in the input
			top := frame.Samples[uint8](got[n].Planes[0])
			for y := range top.Height {
				for x, v := range top.Row(y) {
					inside := y%2 == 0 && x >= 20-seam && x < 44+seam && y >= 16-seam && y < 36+seam
					if v != frame.Samples[uint8](truth[n].Planes[0]).Row(y)[x] && !inside {
						t.Fatalf("a sample at %d,%d, outside the region, is touched", x, y)
					}
				}
			}
			if frame.Equal(got[n], truth[n]) {
				t.Error("the region is not made")
			}
		case !frame.Equal(got[n], truth[n]):
			t.Errorf("frame %d is touched", n)
		}
	}
}

func TestFieldRefusals(t *testing.T) {
	woven := weaveScene(t, 10, "tff", pal, "", coding{"mkv", "ffv1", "yuv420p"})
	progressive := writeScene(t, 96, 64, 10)
	for _, c := range []struct {
		input string
		set   func(o *Options)
		says  string
	}{
		{progressive, func(*Options) {}, "not marked as interlaced"},
		{woven, func(o *Options) { o.Convert.Input.Deinterlace = pipeline.IgnoreFields }, "off restores frames as they are"},
		{woven, func(o *Options) { o.Convert.Input.Deinterlace = pipeline.EachField }, "takes off alone"},
		{woven, func(o *Options) { o.FieldOrder = "left" }, "choose from top, bottom"},
	} {
		o := options(t, c.input)
		o.Damage = frames(t, "4.t")
		c.set(&o)
		if _, err := Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	for _, text := range []string{"4.t-6", "4.t-6.b", ".t", "4.x", "4.t.b"} {
		if _, err := ParseFrames(text); fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseInsert("4.t:2"); fault.KindOf(err) != fault.Usage {
		t.Errorf("an inserted field: %v", err)
	}
}

// The repeated fields of pulldown are no damage.
func TestPulldownIsNoDamage(t *testing.T) {
	input := filepath.Join(t.TempDir(), "pulldown.mkv")
	ffmpeg(t, "-i", cliptest.WriteScene(t, 96, 64, 60, 24, 1), "-vf", "telecine=pattern=23,setfield=tff", "-c:v", "ffv1", input)
	o := options(t, input)
	o.Detect, o.DryRun = true, true
	if report := mustRun(t, o); len(report.Findings) != 0 {
		t.Errorf("found %v", report.Findings)
	}
}

// Frames that are not marked are taken for fields if the user says which comes first; if they look like fields,
// a warning tells how.
func TestFieldOrder(t *testing.T) {
	marked := weaveScene(t, 30, "bff", pal, "", coding{"mkv", "ffv1", "yuv420p"})
	plain := filepath.Join(t.TempDir(), "plain.mkv")
	ffmpeg(t, "-i", marked, "-vf", "setfield=prog", "-c:v", "ffv1", plain)
	made := func(input string, order Field, list string) (all [][]byte, warnings string) {
		var log bytes.Buffer
		o := options(t, input)
		o.Damage, o.FieldOrder = frames(t, list), order
		o.Convert.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
		mustRun(t, o)
		all, _, _ = cliptest.ReadAll(t, o.Convert.Output.File)
		return all, log.String()
	}
	want, warned := made(marked, BothFields, "5.t,9")
	got, _ := made(plain, BottomField, "5.t,9")
	if !slices.EqualFunc(got, want, bytes.Equal) || strings.Contains(warned, "look interlaced") {
		t.Error("the frames that are not marked become others than those that are")
	}
	if other, _ := made(marked, TopField, "5.t,9"); slices.EqualFunc(other, want, bytes.Equal) {
		t.Error("the order that is given is not obeyed")
	}
	if _, warned = made(plain, BothFields, "9"); !strings.Contains(warned, "look interlaced") || !strings.Contains(warned, "Options.FieldOrder") {
		t.Errorf("no warning: %s", warned)
	}
}

// A lamp that lights up for three fields is no damage, whichever field comes first; in one field alone it may be. Parts of fields are
// compared with the field shown right before and the one right after.
func TestFieldsBetween(t *testing.T) {
	const width, height, lit = 160, 160, 12
	format := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	for _, order := range []Field{TopField, BottomField} {
		for second := range 2 { // whether the moment in the middle is a frame's second field
			for _, fields := range []int{1, 3} {
				order := &interlaced{order: order}
				d, err := newFieldDetector(&Options{Find: partKinds}, order)
				if err != nil {
					t.Fatal(err)
				}
				var stamps []int64
				for n := range int64(2 * lit) {
					f := frame.New(format, width, height)
					if err := order.add(f); err != nil {
						t.Fatal(err)
					}
					for y := range height {
						moment := 2 * n
						if order.topFirst(n) != (y%2 == 0) {
							moment++
						}
						for x := range width {
							v := byte(50 + (x*x/7+y/2*y/2/5)%80)
							if off := int(moment) - 2*lit - second; max(off, -off) <= fields/2 && x >= 64 && x < 96 && y >= 64 && y < 96 {
								v += 100
							}
							f.Planes[0].Pix[y*f.Planes[0].Stride+x] = v
						}
					}
					if err := d.add(f); err != nil {
						t.Fatal(err)
					}
					stamps = append(stamps, n)
				}
				want := 1
				if fields > 1 {
					want = 0
				}
				if found := d.finish(stamps); len(found) != want {
					t.Errorf("%s first, field %d, %d fields: found %v", order.order, second, fields, found)
				}
				d.close()
			}
		}
	}
}

// A dropout counts nowhere in the lines in which the heads of a tape switch, but right above them.
func TestHeadsSwitch(t *testing.T) {
	const width, height, lines = 160, 288, 144 // of a field
	format := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	dropouts := map[int]int{20: lines - 3, 30: lines - 6} // by frame, the line of the top field
	order := &interlaced{order: TopField}
	d, err := newFieldDetector(&Options{Find: partKinds}, order)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	var stamps []int64
	for n := range 48 {
		f := frame.New(format, width, height)
		if err := order.add(f); err != nil {
			t.Fatal(err)
		}
		for y := range height {
			for x := range width {
				v := byte(50 + (x*x/7+y/2*y/2/5)%80)
				if line, is := dropouts[n]; is && y == 2*line && x >= 40 && x < 80 {
					v = 235
				}
				f.Planes[0].Pix[y*f.Planes[0].Stride+x] = v
			}
		}
		if err := d.add(f); err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, int64(n))
	}
	if found := d.finish(stamps); len(found) != 1 || found[0].First.Number != 30 || found[0].Kind != Dropout {
		t.Errorf("found %v", found)
	}
}
