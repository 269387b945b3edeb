package restore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/restore/fields"
)

// wovenFilm makes twelve interlaced frames, each of two moments, with sound.
func wovenFilm(t testing.TB, order, size string, rate [2]int, format, file string, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), file)
	mode, top := "interleave_top", "1"
	if order == "bff" {
		mode, top = "interleave_bottom", "0"
	}
	source := fmt.Sprintf("testsrc2=size=%s:rate=%d/%d,trim=end_frame=24", size, 2*rate[0], rate[1])
	all := []string{
		"-f", "lavfi", "-i", source, "-f", "lavfi", "-i", "sine=duration=1:sample_rate=48000", "-c:a", "pcm_s16le", "-vf", "format=" + format + ",tinterlace=" + mode + ",setfield=" + order,
		"-pix_fmt", format, "-flags", "+ildct+ilme", "-top", top,
	}
	if slices.Contains(args, "libx264") { // or else FFmpeg has pic_struct say that the top field comes first
		all = append(all, "-x264-params", order+"=1")
	}
	ffmpeg(t, append(append(all, args...), name)...)
	return name
}

// hashes returns the pictures' hashes in order.
func hashes(decoded map[int64]string) (list []string) {
	for _, at := range slices.Sorted(maps.Keys(decoded)) {
		list = append(list, decoded[at])
	}
	return list
}

// Packets of interlaced frames that no repair changes are copied. The others have the frames of a restoration that
// encodes all, and say like the input which field comes first.
func TestSmartCopyOfFields(t *testing.T) {
	for _, c := range []struct {
		name, format, file string
		args               []string
		encoded            int64
		lossless, unmarked bool // the frames have no marks
		stated             bool // but the container has one for all
		size               string
	}{
		{name: "FFV1", format: "yuv422p10le", file: "a.mkv", args: []string{"-c:v", "ffv1", "-level", "3", "-g", "1", "-slicecrc", "1"}, encoded: 6, lossless: true},
		{name: "FFV1 groups", format: "yuv420p", file: "a.mkv", args: []string{"-c:v", "ffv1", "-level", "3", "-g", "12"}, encoded: 12, lossless: true},
		{name: "FFV1 in AVI", format: "yuv422p", file: "a.avi", args: []string{"-c:v", "ffv1", "-level", "1", "-g", "1"}, encoded: 6, lossless: true, unmarked: true},
		{name: "v210", format: "yuv422p10le", file: "a.mov", args: []string{"-c:v", "v210"}, encoded: 6},
		{name: "uncompressed", format: "uyvy422", file: "a.mov", args: []string{"-c:v", "rawvideo"}, encoded: 6, lossless: true},
		{name: "HuffYUV", format: "yuv422p", file: "a.avi", args: []string{"-c:v", "huffyuv", "-pred", "median"}, encoded: 6, lossless: true, unmarked: true},
		{name: "Ut Video in Matroska", format: "yuv422p", file: "a.mkv", args: []string{"-c:v", "utvideo"}, encoded: 6, lossless: true, stated: true},
		{name: "v308", format: "yuv444p", file: "a.mov", args: []string{"-c:v", "v308"}, encoded: 6, lossless: true, stated: true},
		{name: "ProRes", format: "yuv422p10le", file: "a.mov", args: []string{"-c:v", "prores_ks", "-profile:v", "2"}, encoded: 6},
		{name: "DNxHD", format: "yuv422p", file: "a.mxf", args: []string{"-c:v", "dnxhd", "-b:v", "120M"}, encoded: 6, size: "1920x1080"},
		{name: "DV", format: "yuv420p", file: "a.mov", args: []string{"-c:v", "dvvideo"}, encoded: 6, size: "720x576"},
		{name: "H.264", format: "yuv420p", file: "a.mkv", args: []string{"-c:v", "libx264", "-g", "3"}, encoded: 11},
		{name: "H.264 of 10 bits", format: "yuv422p10le", file: "a.ts", args: []string{"-c:v", "libx264", "-g", "3", "-bf", "0", "-c:a", "mp2"}, encoded: 11},
	} {
		for _, order := range []string{"tff", "bff"} {
			rate := map[string][2]int{"tff": pal, "bff": ntsc}[order]
			switch {
			case c.size == "":
				c.size = "96x64"
			case order == "tff": // large pictures take their time
				continue
			case c.size == "720x576":
				rate = pal
			}
			t.Run(c.name+" "+order, func(t *testing.T) {
				t.Parallel()
				input := wovenFilm(t, order, c.size, rate, c.format, c.file, c.args...)
				o := options(t, input)
				o.Damage, o.SmartCopy = frames(t, "0,3.t,5.b,7-8,11"), true
				if c.unmarked {
					o.FieldOrder = map[string]Field{"tff": TopField, "bff": BottomField}[order]
				}
				var logs [2][]Entry
				o.Log = func(e Entry) { logs[0] = append(logs[0], e) }
				o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out"+filepath.Ext(c.file))}
				report := mustRun(t, o)
				if r := report.Conversion; report.Made != 6 || r.Frames != 12 || r.Copied+r.Encoded != 12 || r.Encoded > c.encoded {
					t.Errorf("%d frames made, %d packets copied, %d encoded, want at most %d", report.Made, r.Copied, r.Encoded, c.encoded)
				}
				copied := o.Convert.Output.File
				checkCopied(t, input, copied, int(report.Conversion.Copied))
				stream, order := marks(t, input)
				if s, o := marks(t, copied); s != stream || !slices.Equal(o, order) || !c.unmarked && !c.stated && !strings.HasPrefix(order[0], "1") {
					t.Errorf("marked %s %v, the input %s %v", s, o, stream, order)
				}
				if c.size == "1920x1080" {
					return
				}
				// Without smart copy, all frames are encoded.
				o.SmartCopy, o.Convert.Output = false, pipeline.Output{File: filepath.Join(t.TempDir(), "plain.mkv"), VideoCodec: "ffv1"}
				o.Log = func(e Entry) { logs[1] = append(logs[1], e) }
				mustRun(t, o)
				if fmt.Sprint(logs[0]) != fmt.Sprint(logs[1]) {
					t.Errorf("the logs differ:\n%v\n%v", logs[0], logs[1])
				}
				if c.lossless {
					if !slices.Equal(hashes(decoded(t, copied, "0")), hashes(decoded(t, o.Convert.Output.File, "0"))) && c.format != "uyvy422" {
						t.Error("the frames are not those of a restoration that encodes all")
					}
					return
				}
				got, _ := readAll(t, copied)
				want, _ := readAll(t, o.Convert.Output.File)
				for n := range want {
					for _, field := range []fields.Set{fields.Top, fields.Bottom} {
						if db := fieldPSNR(got[n], want[n], field); db < 34 {
							t.Errorf("frame %d, field %d: %.1f dB", n, field, db)
						}
					}
				}
			})
		}
	}
}

// A packet that does not decode is replaced, and the others are copied.
func TestSmartCopyOfFieldsReplacesBrokenPackets(t *testing.T) {
	for _, c := range []struct {
		name, format string
		args         []string
	}{
		{"FFV1", "yuv422p", []string{"-c:v", "ffv1", "-level", "3", "-g", "1", "-slicecrc", "1"}},
		{"H.264 of whole frames", "yuv420p", []string{"-c:v", "libx264", "-g", "3", "-bf", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := wovenFilm(t, "tff", "96x64", pal, c.format, "a.mkv", c.args...)
			place := strings.Fields(output(t, "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pos,size", "-of", "csv=p=0:s=\\ ", whole))
			var size, pos int
			if _, err := fmt.Sscan(place[2*5]+" "+place[2*5+1], &size, &pos); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			const head = 16 // the block's, at most
			clear(b[pos+head : pos+size])
			input := filepath.Join(t.TempDir(), "broken.mkv")
			if err := os.WriteFile(input, b, 0o600); err != nil {
				t.Fatal(err)
			}
			o := options(t, input)
			o.Detect, o.SmartCopy = true, true
			o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv")}
			report := mustRun(t, o)
			if r := report.Conversion; r.Sources != 11 || r.Frames != 12 || r.Encoded != 1 || r.Copied != 11 {
				t.Errorf("%d frames read, %d written; %d packets copied, %d encoded", r.Sources, r.Frames, r.Copied, r.Encoded)
			}
			checkCopied(t, whole, o.Convert.Output.File, int(report.Conversion.Copied))
		})
	}
}

// Frames are put in between the copied ones as fields.
func TestSmartCopyInsertsFields(t *testing.T) {
	whole := wovenFilm(t, "bff", "96x64", pal, "yuv422p10le", "a.mkv", "-c:v", "ffv1", "-g", "1")
	gap := filepath.Join(t.TempDir(), "gap.mkv")
	ffmpeg(t, "-i", whole, "-vf", "select='not(between(n,5,6))'", "-fps_mode", "passthrough", "-c:v", "ffv1", "-g", "1", gap)
	o := options(t, gap)
	var err error
	if o.Damage, err = ParseInsert("4:2"); err != nil {
		t.Fatal(err)
	}
	o.Damage = append(o.Damage, frames(t, "7.t")...)
	var got [2][]*frame.Frame
	for i := range got {
		o.SmartCopy = i == 1
		o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}
		mustRun(t, o)
		got[i], _ = readAll(t, o.Convert.Output.File)
	}
	if !slices.EqualFunc(got[0], got[1], frame.Equal) || len(got[0]) != 12 {
		t.Error("the frames are not those of a restoration that encodes all")
	}
}

// An encoder that would change how frames are marked is refused.
func TestSmartCopyKeepsMarks(t *testing.T) {
	input := wovenFilm(t, "tff", "96x64", pal, "yuv422p10le", "a.mov", "-c:v", "prores_ks", "-profile:v", "2")
	o := options(t, input)
	o.Damage, o.SmartCopy = frames(t, "5.t"), true
	o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mov"), VideoOptions: map[string]string{"flags": "-ildct"}}
	if _, err := Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "does not mark frames as interlaced") {
		t.Errorf("%v", err)
	}
}

// MJPEG with a picture for each field is refused: FFmpeg's encoder makes one for both, and after such a one FFmpeg's decoder takes
// fields for frames.
func TestSmartCopyOfPairedFields(t *testing.T) {
	dir := t.TempDir()
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50,trim=end_frame=24", "-vf", "format=yuvj420p,tinterlace=interleave_top,separatefields",
		"-c:v", "mjpeg", filepath.Join(dir, "%d.jpg"))
	for n := 1; n <= 24; n += 2 {
		var pair []byte
		for field := range 2 {
			b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.jpg", n+field)))
			if err != nil {
				t.Fatal(err)
			}
			pair = append(pair, b...)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("pair%d.jpg", n/2)), pair, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pairs := filepath.Join(dir, "pairs.avi")
	ffmpeg(t, "-f", "image2", "-c:v", "mjpeg", "-framerate", "25", "-i", filepath.Join(dir, "pair%d.jpg"), "-c", "copy", pairs)
	b, err := os.ReadFile(pairs)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("strf"))+16] = 64 // the frame's height
	if err := os.WriteFile(pairs, b, 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(t, pairs)
	o.Damage, o.SmartCopy = frames(t, "5"), true
	o.Convert.Output = pipeline.Output{File: filepath.Join(dir, "out.avi")}
	if _, err := Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "pairs of fields") {
		t.Errorf("%v", err)
	}
}
