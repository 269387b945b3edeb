package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline"
	"retime/pipeline/media/av"
	"retime/warp"
)

// words packs what FFmpeg holds as a C struct of 32-bit fields.
func words(v ...int32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.NativeEndian.AppendUint32(b, uint32(w))
	}
	return b
}

// sideData are descriptions of a stream's pictures, as FFmpeg 5.1 lays them out.
var sideData = map[string]struct {
	kind av.PacketSideKind
	data []byte
}{
	"rotation":  {av.PacketDisplayMatrix, words(0, 65536, 0, -65536, 0, 0, 0, 0, 1<<30)},
	"stereo":    {av.PacketStereo3D, words(1, 0, 0)}, // side by side
	"spherical": {av.PacketSpherical, words(0, 30<<16, 0, 0, 0, 0, 0, 0, 0)},
	"light":     {av.PacketContentLight, words(1000, 400)},
	"icc":       {av.PacketICCProfile, bytes.Repeat([]byte("profile "), 20)},
}

// sideBoxes are the beginnings of the boxes that hold sideData in MP4.
var sideBoxes = map[string]string{
	"stereo":    "st3d\x00\x00\x00\x00\x02",
	"spherical": "prhd\x00\x00\x00\x00\x00\x1e\x00\x00",
}

// describe writes the first stream of in to out with side data of its own.
func describe(t *testing.T, in, out string, names ...string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	source := astiav.AllocFormatContext()
	defer source.Free()
	must(source.OpenInput(in, nil, nil))
	defer source.CloseInput()
	must(source.FindStreamInfo(nil))
	target, err := astiav.AllocOutputFormatContext(nil, "", out)
	must(err)
	defer target.Free()
	target.SetStrictStdCompliance(astiav.StrictStdComplianceUnofficial)
	from, to := source.Streams()[0], target.NewStream(nil)
	must(from.CodecParameters().Copy(to.CodecParameters()))
	to.CodecParameters().SetCodecTag(0)
	to.SetTimeBase(from.TimeBase())
	to.SetAvgFrameRate(from.AvgFrameRate())
	for _, name := range names {
		must(av.SetStreamSideData(to, sideData[name].kind, sideData[name].data))
	}
	file, err := av.CreateFile(out)
	must(err)
	file.Use(target)
	options := astiav.NewDictionary()
	defer options.Free()
	if strings.HasSuffix(out, ".mp4") {
		must(options.Set("movflags", "prefer_icc", 0))
	}
	must(target.WriteHeader(options))
	packet := astiav.AllocPacket()
	defer packet.Free()
	for {
		if err := source.ReadFrame(packet); errors.Is(err, astiav.ErrEof) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packet.RescaleTs(from.TimeBase(), to.TimeBase())
		packet.SetStreamIndex(0)
		must(target.WriteInterleavedFrame(packet))
	}
	must(target.WriteTrailer())
	must(file.Close())
}

// described is what ffprobe shows of a stream's side data, a line each.
func described(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream_side_data", "-of", "compact", name).Output()
	if err != nil {
		t.Skipf("ffprobe: %v", err)
	}
	// CPB properties belong to one encoder; matrices are shown with line numbers.
	return regexp.MustCompile(`(?m)side_data_type=CPB[^\n]*`).ReplaceAllString(string(out), "")
}

func TestSideData(t *testing.T) {
	scene := writeScene(t, 64, 48, 4, 24, 1)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.mkv")
	ffmpeg(t, "-i", scene, "-c:v", "libx264", "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", plain)
	for _, c := range []struct {
		name, from string
		kept, lost []string // containers
	}{
		{"rotation", ".mp4", []string{".mp4", ".mov"}, []string{".mkv", ".nut"}},
		{"stereo", ".mkv", []string{".mp4", ".mkv", ".webm"}, []string{".mov", ".nut"}},
		{"spherical", ".mkv", []string{".mp4", ".mkv"}, []string{".mov", ".avi"}},
		{"light", ".mkv", []string{".mp4", ".mkv", ".mov"}, nil},
		{"icc", ".mp4", []string{".mp4", ".mov"}, []string{".mkv"}},
	} {
		input := filepath.Join(dir, c.name+c.from)
		describe(t, plain, input, c.name)
		want := described(t, input)
		if !strings.Contains(want, "side_data_type") {
			t.Fatalf("%s is not in the input: %s", c.name, want)
		}
		for i, ext := range append(append([]string{}, c.kept...), c.lost...) {
			var said strings.Builder
			o := pipeline.Options{Input: pipeline.Input{File: input, Rotation: pipeline.KeepRotation}, Output: pipeline.Output{File: filepath.Join(dir, "out"+ext), Overwrite: true}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
			o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
			mustRun(t, o)
			got := described(t, o.Output.File)
			kept := i < len(c.kept)
			if box := sideBoxes[c.name]; ext == ".mp4" && box != "" {
				// FFmpeg 7 and later also write an empty box vexu, and what their demuxer
				// finds in it takes the place of this box's content.
				data, err := os.ReadFile(o.Output.File)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Contains(data, []byte(box)) {
					t.Errorf("%s in %s: no box %q", c.name, ext, box)
				}
				if bytes.Contains(data, []byte("vexu")) && strings.Contains(got, "side_data_type") {
					got = want
				}
			}
			if kept && got != want {
				t.Errorf("%s in %s:\n%sbecame\n%s", c.name, ext, want, got)
			}
			if warned := strings.Count(said.String(), "picture's description"); kept && warned != 0 || !kept && warned != 1 {
				t.Errorf("%s in %s: %d warnings: %s", c.name, ext, warned, said.String())
			}
		}
	}
}

// Static HDR10 metadata go on, through the container and through encoders that
// write them themselves.
func TestHDR10(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "hdr.mp4")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 4, 24, 1), "-pix_fmt", "yuv420p10le", "-c:v", "libx265",
		"-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-x265-params",
		"log-level=error:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400", input)
	for _, c := range []struct{ name, codec string }{{"out.mp4", "libx265"}, {"out.mp4", "libx264"}, {"out.mkv", "ffv1"}, {"raw.hevc", "libx265"}} {
		o := pipeline.Options{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: filepath.Join(dir, c.name), VideoCodec: c.codec, Overwrite: true}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-read_intervals", "%+#1", "-show_frames", "-show_streams", "-of", "flat", o.Output.File).Output()
		if err != nil {
			t.Skipf("ffprobe: %v", err)
		}
		for _, want := range []string{`max_content=1000`, `max_average=400`, `max_luminance="(10000000/10000|1000/1)"`, `min_luminance="(50/10000|1/200)"`, `green_y="(34500/50000|69/100)"`} {
			if !regexp.MustCompile(want).Match(out) {
				t.Errorf("%s by %s: no %s", c.name, c.codec, want)
			}
		}
	}
}

// Pictures are cropped as the codec says, to the pixel.
func TestCropping(t *testing.T) {
	dir := t.TempDir()
	whole, cropped, want := filepath.Join(dir, "whole.mp4"), filepath.Join(dir, "cropped.mp4"), filepath.Join(dir, "want.nut")
	ffmpeg(t, "-i", writeScene(t, 96, 64, 3, 24, 1), "-c:v", "libx264", whole)
	for _, c := range [][4]int{{6, 2, 0, 0}, {2, 4, 10, 6}, {0, 0, 2, 2}} {
		left, top, right, bottom := c[0], c[1], c[2], c[3]
		ffmpeg(t, "-i", whole, "-c", "copy", "-bsf:v",
			fmt.Sprintf("h264_metadata=crop_left=%d:crop_top=%d:crop_right=%d:crop_bottom=%d", left, top, right, bottom), cropped)
		ffmpeg(t, "-i", whole, "-vf", fmt.Sprintf("crop=%d:%d:%d:%d:exact=1", 96-left-right, 64-top-bottom, left, top), "-c:v", "rawvideo", want)
		o := lossless(t, cropped)
		o.Synthesis.Mode = warp.Blend
		if _, err := pipeline.Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		a, _, _ := readAll(t, want)
		b, _, v := readAll(t, o.Output.File)
		for i := range a {
			if !bytes.Equal(a[i], b[i]) {
				t.Errorf("crop %v: frame %d, %dx%d, differs from what the codec shows", c, i, v.Width, v.Height)
			}
		}
	}
}

// Another video stream, which is copied, stays turned as it is, or the log says that it does not.
func TestSideDataOfAnotherStream(t *testing.T) {
	dir := t.TempDir()
	plain, in := filepath.Join(dir, "plain.mov"), filepath.Join(dir, "in.mov")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2", "-c:v", "mpeg4", plain)
	turned := rotated(t, "turned.mp4", 0, 1, -1, 0, "-c:v", "mpeg4")
	ffmpeg(t, "-i", plain, "-i", turned, "-map", "0", "-map", "1", "-c", "copy", in)
	for name, kept := range map[string]bool{"out.mov": true, "out.mp4": true, "out.avi": false} {
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: filepath.Join(dir, name)}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:1", "-show_entries", "stream_side_data=side_data_type", "-of", "csv=p=0", o.Output.File).Output()
		if err != nil || strings.Contains(string(out), "Display Matrix") != kept {
			t.Errorf("%s: %s (%v)", name, out, err)
		}
		if strings.Contains(said.String(), `lost="display matrix"`) == kept {
			t.Errorf("%s: said %s", name, said.String())
		}
	}
}
