package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/pixel"
	"retime/pipeline/timeline/curve"
)

// testClip makes an FFV1 clip of the given size and number of frames.
func testClip(t *testing.T, width, height, frames int, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), fmt.Sprintf("%dx%d.mkv", width, height))
	ffmpegProgram(t, "ffmpeg", append(append([]string{"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=s=%dx%d:r=24", width, height)}, args...),
		"-frames:v", fmt.Sprint(frames), "-c:v", "ffv1", name)...)
	return name
}

// plainOptions returns options for output at the source's speed.
func plainOptions(e EncoderOptions) WriterOptions {
	return WriterOptions{Encoder: e, Rate: big.NewRat(24, 1), StreamOptions: StreamOptions{Curve: curve.Constant(new(big.Rat), big.NewRat(1, 1))}}
}

// encodeAll encodes a clip and returns its packets.
func encodeAll(t *testing.T, clip, name string, opt WriterOptions) (list []Packet) {
	t.Helper()
	r, err := Open(t.Context(), clip, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	e, err := NewEncoder(t.Context(), name, r, opt, 0, func(p Packet) error { list = append(list, p); return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer e.Abort()
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		err = e.WriteFrame(f, nil, nil)
		f.Release()
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	return list
}

// x265 3.5 writes beyond its heap for narrow pictures unless cutree is off; glibc's
// checks then abort the process. x265 chooses its assembler once per process, so the
// first picture here is wide.
func TestNarrowPicturesInX265(t *testing.T) {
	const clips = "RETIME_TEST_NARROW"
	if list := os.Getenv(clips); list != "" {
		for _, clip := range strings.Split(list, ":") {
			opt := plainOptions(EncoderOptions{Codec: "libx265", CRF: 30, Options: map[string]string{"x265-params": "cutree=1:keyint=5:min-keyint=5:scenecut=0"}})
			keys := 0
			for _, p := range encodeAll(t, clip, "out.mkv", opt) {
				if p.IsKey() {
					keys++
				}
			}
			if keys != 5 {
				t.Errorf("%s: %d key frames of 24, want one of 5", clip, keys)
			}
		}
		return
	}
	if astiav.FindEncoderByName("libx265") == nil {
		t.Skip("needs libx265")
	}
	check, err := filepath.Glob("/usr/lib/*/libc_malloc_debug.so.0")
	if err != nil || len(check) == 0 {
		t.Skip("needs glibc's malloc_debug")
	}
	list := []string{testClip(t, 128, 64, 24)}
	for _, size := range [][2]int{{48, 32}, {32, 64}, {63, 33}, {16, 200}} {
		list = append(list, testClip(t, size[0], size[1], 24, "-pix_fmt", "yuv444p"))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), clips+"="+strings.Join(list, ":"), "MALLOC_CHECK_=3", "LD_PRELOAD="+check[0])
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestEncoderSettings(t *testing.T) {
	output, err := newContainer("a.mkv", "file:a.mkv", "")
	if err != nil {
		t.Fatal(err)
	}
	defer output.Free()
	light := []byte{0xe8, 3, 0, 0, 0x90, 1, 0, 0} // 1000 and 400 cd/m²
	for _, c := range []struct {
		codec         string
		opt           EncoderOptions
		width, height int
		side          map[av.PacketSideKind][]byte
		want          map[string]string // empty for what is not set
	}{
		{"libx264", EncoderOptions{CRF: -1}, 64, 48, nil, map[string]string{"crf": "16", "rc-lookahead": "", "colorspace": "1"}},
		{"libx264", EncoderOptions{CRF: 20}, 4096, 2160, nil, map[string]string{"crf": "20", "rc-lookahead": "20"}},
		{"libx264", EncoderOptions{CRF: -1, Options: map[string]string{"qp": "3", "rc-lookahead": "7"}}, 4096, 2160, nil, map[string]string{"crf": "", "qp": "3", "rc-lookahead": "7"}},
		{"libx265", EncoderOptions{CRF: -1, Options: map[string]string{"b": "5M"}}, 64, 48, nil, map[string]string{"crf": "", "b": "5M"}},
		{"libvpx-vp9", EncoderOptions{CRF: 30, Options: map[string]string{"b": "5M"}}, 64, 48, nil, map[string]string{"crf": "30", "b": "5M"}},
		{"libx264", EncoderOptions{CRF: -1, Options: map[string]string{"x264-params": "cll=1,1"}}, 64, 48, map[av.PacketSideKind][]byte{av.PacketContentLight: light}, map[string]string{"x264-params": "cll=1000,400:cll=1,1"}},
		{"libx265", EncoderOptions{CRF: -1}, 64, 16, nil, map[string]string{"crf": "18", "x265-params": "log-level=error"}},
		{"libx265", EncoderOptions{CRF: -1}, 63, 64, nil, map[string]string{"x265-params": "log-level=error:cutree=0"}},
		{"libx265", EncoderOptions{CRF: -1, Options: map[string]string{"x265-params": "cutree=1:keyint=5"}}, 48, 32, nil, map[string]string{"x265-params": "log-level=error:cutree=1:keyint=5:cutree=0"}},
		{"libvpx", EncoderOptions{CRF: -1}, 64, 48, nil, map[string]string{"auto-alt-ref": ""}},
		{"ffv1", EncoderOptions{CRF: -1}, 64, 48, nil, map[string]string{"crf": ""}},
		{"libx265", EncoderOptions{CRF: -1, Codec: "libx265"}, 64, 16, nil, map[string]string{"crf": ""}},
		{"libx265", EncoderOptions{CRF: -1, Codec: "libx265", Chosen: true}, 64, 16, nil, map[string]string{"crf": "18"}},
		{"libx264rgb", EncoderOptions{CRF: -1}, 64, 16, nil, map[string]string{"crf": "16"}},
		{"mjpeg", EncoderOptions{CRF: -1}, 64, 48, nil, map[string]string{"b": "0", "flags": "+qscale", "global_quality": "236", "maxrate": ""}},
		{"mpeg2video", EncoderOptions{CRF: -1, Options: map[string]string{"flags": "+cgop"}}, 64, 48, nil, map[string]string{"flags": "+cgop+qscale", "global_quality": "236"}},
		{"mpeg2video", EncoderOptions{CRF: -1, Options: map[string]string{"b": "5M"}}, 64, 48, nil, map[string]string{"flags": "", "global_quality": "", "b": "5M"}},
		{"libvpx", EncoderOptions{CRF: 20}, 64, 48, nil, map[string]string{"crf": "20", "b": "50M"}},
	} {
		codec := astiav.FindEncoderByName(c.codec)
		if codec == nil {
			continue
		}
		source := &Source{Video: Video{Width: c.width, Height: c.height}, Side: c.side}
		colour := pixel.Colour{Matrix: av.MatrixBT709}
		options, err := encoderSettings(codec, &c.opt, source, astiav.PixelFormatYuv420P, colour, output)
		if err != nil {
			t.Errorf("%s %+v: %v", c.codec, c.opt, err)
			continue
		}
		for k, want := range c.want {
			got := ""
			if e := options.Get(k, nil, 0); e != nil {
				got = e.Value()
			}
			if got != want {
				t.Errorf("%s %+v of %dx%d: %s is %q, want %q", c.codec, c.opt, c.width, c.height, k, got, want)
			}
		}
		options.Free()
	}
	_, err = encoderSettings(astiav.FindEncoderByName("ffv1"), &EncoderOptions{CRF: 3}, &Source{}, astiav.PixelFormatYuv420P, pixel.Colour{}, output)
	if fault.KindOf(err) != fault.Usage {
		t.Errorf("FFV1 with a constant rate factor: %v", err)
	}
	_, err = encoderSettings(astiav.FindEncoderByName("libx264"), &EncoderOptions{CRF: 3, Options: map[string]string{"b": "5M"}}, &Source{}, astiav.PixelFormatYuv420P, pixel.Colour{}, output)
	if fault.KindOf(err) != fault.Usage {
		t.Errorf("a bit rate and a constant rate factor: %v", err)
	}
}

// decodedAs describes a source by its codec, sample format and transfer characteristics.
func decodedAs(codec string, format astiav.PixelFormat, transfer int) *Source {
	return &Source{Video: Video{Codec: codec}, Fields: av.Progressive, Pixels: pixel.Source{Format: format, Planar: format, Colour: pixel.Colour{Transfer: transfer}}}
}

// Without a name, the encoder follows the source where the container takes it.
func TestEncoderFollowsTheSource(t *testing.T) {
	for _, c := range []struct {
		codec, format string
		transfer      int
		file, want    string
	}{
		{"hevc", "yuv420p10le", av.TransferPQ, "a.mp4", "libx265"},
		{"hevc", "yuv420p10le", 1, "a.mkv", "libx265"},
		{"hevc", "yuv420p", av.TransferHLG, "a.mov", "libx265"},
		{"hevc", "yuv420p", 1, "a.mp4", "libx264"},
		{"hevc", "yuv420p10le", av.TransferPQ, "a.avi", "libx264"},
		{"hevc", "yuv420p10le", av.TransferPQ, "a.webm", "libvpx-vp9"},
		{"h264", "yuv420p10le", 1, "a.mp4", "libx265"},
		{"vp9", "yuv420p", av.TransferHLG, "a.mp4", "libx265"},
		{"prores", "yuv422p10le", av.TransferPQ, "a.mkv", "prores_ks"},
		{"prores", "yuv422p10le", av.TransferPQ, "a.mp4", "libx265"},
		{"prores", "yuv422p10le", 1, "a.mxf", "prores_ks"},
		{"prores", "yuv422p10le", 1, "a.vob", "mpeg2video"},
		{"dnxhd", "yuv422p", 1, "a.mov", "dnxhd"},
		{"dnxhd", "yuv422p", 1, "a.mp4", "libx264"},
		{"cfhd", "yuv422p10le", 1, "a.avi", "cfhd"},
		{"png", "gbrp", 1, "a.mp4", "libx264rgb"},
		{"png", "rgb24", 1, "a.mkv", "libx264rgb"},
		{"gif", "bgra", 1, "a.mkv", "ffv1"},
		{"gif", "bgra", 1, "a.mp4", "libx264rgb"},
		{"png", "rgb48be", 1, "a.mkv", "ffv1"},
		{"png", "rgba64be", 1, "a.mov", "png"},
		{"dpx", "gbrp10le", 1, "a.mp4", "libx265"},
		{"prores", "yuva444p10le", 1, "a.mov", "prores_ks"},
		{"prores", "yuva444p10le", 1, "a.mkv", "prores_ks"},
		{"prores", "yuva444p10le", 1, "a.mp4", "libx264"},
		{"vp9", "yuva420p", 1, "a.nut", "ffv1"},
		{"vp9", "yuva420p", 1, "a.mov", "prores_ks"},
		{"vp9", "yuva420p", 1, "a.webm", "libvpx-vp9"},
		{"png", "ya8", 1, "a.mov", "prores_ks"},
		{"hevc", "yuva420p10le", av.TransferPQ, "a.mkv", "ffv1"},
		{"png", "rgb24", 1, "a.webm", "libvpx-vp9"},
		{"png", "rgb24", 1, "a.mxf", "mpeg2video"},
		{"png", "rgb24", 1, "a%d.png", "png"},
	} {
		output, err := newContainer(c.file, "file:"+c.file, "")
		if err != nil {
			t.Fatal(err)
		}
		codec, err := pickEncoder(output, c.file, decodedAs(c.codec, astiav.FindPixelFormatByName(c.format), c.transfer), &EncoderOptions{CRF: -1})
		if err != nil || codec.Name() != c.want {
			t.Errorf("%+v: %v, %v", c, codec, err)
		}
		output.Free()
	}
}

// Interlaced pictures get an encoder that marks them, and which field comes first, where one takes them.
func TestEncoderOfInterlacedPictures(t *testing.T) {
	for format, files := range map[string][]string{"yuv420p": {"a.mp4", "a.mkv"}, "yuv422p10le": {"a.mp4", "a.mov", "a.mkv", "a.ts"}} {
		for _, file := range files {
			output, err := newContainer(file, "file:"+file, "")
			if err != nil {
				t.Fatal(err)
			}
			source := decodedAs("h264", astiav.FindPixelFormatByName(format), 1)
			source.Fields = av.BottomFirst
			codec, err := pickEncoder(output, file, source, &EncoderOptions{CRF: -1})
			if err != nil || !codesFields(codec.Name(), nil) {
				t.Errorf("%s in %s: %v, %v", format, file, codec, err)
			}
			output.Free()
		}
	}
}

// The sample format that the caller names counts in place of the source's, and the encoder takes it.
func TestEncoderFollowsTheFormat(t *testing.T) {
	for _, c := range []struct{ codec, format, asked, file, want string }{
		{"gif", "bgra", "yuv420p", "a.mp4", "libx264"},
		{"gif", "bgra", "yuv420p", "a.mkv", "libx264"},
		{"png", "rgb24", "yuv420p", "a.mp4", "libx264"},
		{"png", "rgb24", "yuv420p10le", "a.mov", "libx265"},
		{"png", "rgb24", "gray", "a.avi", "libx264"},
		{"png", "rgba", "yuva444p10le", "a.mov", "prores_ks"},
		{"png", "rgba", "rgba", "a.mov", "png"},
		{"png", "rgb48be", "bgr24", "a.mp4", "libx264rgb"},
		{"vp9", "yuva420p", "yuv420p", "a.mkv", "libx264"},
		{"vp9", "yuva420p", "yuva420p", "a.mkv", "ffv1"},
		{"h264", "yuv420p", "gbrp", "a.mp4", "libx265"},
		{"h264", "yuv420p", "rgb24", "a.mp4", "libx264rgb"},
		{"h264", "yuv420p10le", "yuv420p", "a.mp4", "libx264"},
		{"h264", "yuv420p", "bgra", "a.mkv", "ffv1"},
	} {
		output, err := newContainer(c.file, "file:"+c.file, "")
		if err != nil {
			t.Fatal(err)
		}
		codec, err := pickEncoder(output, c.file, decodedAs(c.codec, astiav.FindPixelFormatByName(c.format), 1), &EncoderOptions{CRF: -1, PixelFormat: c.asked})
		if err != nil || codec.Name() != c.want {
			t.Errorf("%+v: %v, %v", c, codec, err)
		} else if _, err := namedFormat(codec, c.asked, encoderFormats(codec)); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		output.Free()
	}
}

// A source without losses is written without them, unless the caller says how good the output shall be.
func TestEncoderKeepsWhatHasNoLosses(t *testing.T) {
	quality := []EncoderOptions{{CRF: 20}, {CRF: -1, PixelFormat: "yuv420p"}, {CRF: -1, Options: map[string]string{"b": "5M"}}}
	for _, c := range []struct{ codec, format, file, want string }{
		{"ffv1", "yuv420p", "a.mkv", "ffv1"},
		{"ffv1", "yuv420p", "a.mp4", "libx264"},
		{"ffv1", "yuv422p10le", "a.mov", "libx264"},
		{"ffv1", "yuv422p12le", "a.mp4", "libx265"},
		{"ffv1", "gbrp", "a.mp4", "libx264rgb"},
		{"ffv1", "yuv420p", "a.webm", "libvpx-vp9"},
		{"ffv1", "gray", "a.ts", "libx264"},
		{"ffv1", "yuv420p", "a.flv", "libx264"},
		{"ffv1", "yuv420p", "a.mxf", "libx264"},
		{"ffv1", "yuv420p", "a.vob", "mpeg2video"}, // which players of discs take, with a warning
		{"huffyuv", "yuv422p", "a.avi", "huffyuv"},
		{"utvideo", "yuv422p", "a.mkv", "utvideo"},
		{"utvideo", "yuv422p", "a.mp4", "libx264"},
		{"lagarith", "yuv420p", "a.avi", "ffv1"},
		{"h264", "yuv420p", "a.mkv", "libx264"},
		{"v210", "yuv422p10le", "a.mov", "v210"},
		{"ffv1", "gray16le", "a.mp4", "libx265"}, // which holds 12 bits, with a warning
	} {
		source := decodedAs(c.codec, astiav.FindPixelFormatByName(c.format), 1)
		source.Lossless = true
		output, err := newContainer(c.file, "file:"+c.file, "")
		if err != nil {
			t.Fatal(err)
		}
		if codec, err := pickEncoder(output, c.file, source, &EncoderOptions{CRF: -1}); err != nil || codec.Name() != c.want {
			t.Errorf("%+v: %v, %v", c, codec, err)
		}
		for _, q := range quality {
			source.Lossless = true
			set, err1 := pickEncoder(output, c.file, source, &q)
			source.Lossless = false
			other, err2 := pickEncoder(output, c.file, source, &q)
			if err1 != nil || err2 != nil || set.Name() != other.Name() {
				t.Errorf("%+v, %+v: %v and %v, %v, %v", c, q, set, other, err1, err2)
			}
		}
		output.Free()
	}
}

func TestPickEncoder(t *testing.T) {
	for _, c := range []struct{ file, format, name, want, fails string }{
		{"a.mp4", "", "", "libx264", ""},
		{"a.webm", "", "", "libvpx-vp9", ""},
		{"a.gif", "", "", "gif", ""},
		{"a%d.png", "", "", "png", ""},
		{"a%d.gif", "", "", "gif", ""},
		{"a%d.webp", "", "", "libwebp", ""},
		{"a%d.mp4", "", "", "libx264", ""},
		{"a%d", "", "", "", "no container goes by that name"},
		{"a%d.mp4", "image2", "", "mjpeg", ""},
		{"a.hevc", "", "", "libx265", ""},
		{"a.h265", "", "", "libx265", ""},
		{"a.265", "", "", "libx265", ""},
		{"a.h264", "", "", "libx264", ""},
		{"a.yuv", "", "", "rawvideo", ""},
		{"a.yuv", "", "v210", "v210", ""},
		{"a.mjpeg", "", "", "mjpeg", ""},
		{"a.m2v", "", "", "mpeg2video", ""},
		{"a.m1v", "", "", "mpeg1video", ""},
		{"a.ivf", "", "", "libvpx", ""},
		{"a.ivf", "", "libx264", "", "does not take libx264"},
		{"a.obu", "", "", "libaom-av1", ""},
		{"a.vc1", "", "", "", "holds vc1, which this FFmpeg build does not encode"},
		{"a.hevc", "", "libx264", "", "does not take libx264"},
		{"a.m2v", "", "mpeg1video", "", "does not take mpeg1video"},
		{"a.gif", "", "libx264", "", "does not take libx264"},
		{"a.mpg", "", "", "libx264", ""},
		{"a.vob", "", "", "mpeg2video", ""},
		{"a.mxf", "", "", "mpeg2video", ""},
		{"a.gxf", "", "", "mpeg2video", ""},
		{"a.dv", "", "", "dvvideo", ""},
		{"a.swf", "", "", "flv", ""},
		{"a.mp3", "", "", "", "holds no video"},
		{"a.srt", "", "", "", "holds no video"},
		{"a.srt", "", "libx264", "", "holds no video"},
		{"a.y4m", "", "rawvideo", "wrapped_avframe", ""},
		{"a.mkv", "", "ffv1", "ffv1", ""},
		{"a.mov", "", "ffv1", "ffv1", ""},
		{"a.webm", "", "libx264", "", "does not take libx264"},
		{"a.mkv", "", "nosuch", "", "not in this FFmpeg build"},
		{"a.wav", "", "", "", "holds no video"},
		{"a.png", "", "", "", "name of one picture"},
		{"a.mkv", "nosuch", "", "", "output format"},
		{"a", "", "", "", "no container goes by that name"},
		{"-", "", "", "libx264", ""},
	} {
		output, err := newContainer(c.file, "file:"+c.file, c.format)
		var codec *astiav.Codec
		if err == nil {
			codec, err = pickEncoder(output, c.file, decodedAs("h264", astiav.PixelFormatYuv420P, 0), &EncoderOptions{Codec: c.name, CRF: -1})
			output.Free()
		}
		if c.fails != "" {
			if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v: %v", c, err)
			}
		} else if err != nil || codec.Name() != c.want {
			t.Errorf("%+v: %v, %v", c, codec, err)
		}
	}
}

// An encoder numbers its frames from the given number, keeps the durations of
// frames that come with times, and drops its frames if the run is cancelled.
func TestEncoderTimes(t *testing.T) {
	clip := testClip(t, 32, 16, 4)
	r, err := Open(t.Context(), clip, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	var got [][2]int64
	put := func(p Packet) error { got = append(got, [2]int64{p.PTS, p.Duration}); return nil }
	opt := plainOptions(EncoderOptions{Codec: "ffv1", CRF: -1, Threads: 1})
	e, err := NewEncoder(t.Context(), "out.mkv", r, opt, 7, put)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.WriteFrame(f, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	e.Abort()
	opt.Unit = big.NewRat(1, 1000)
	if e, err = NewEncoder(t.Context(), "out.mkv", r, opt, 0, put); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int64{{0, 10}, {10, 10}, {5, 30}} { // the second has no duration, the last is too early
		if err := e.WriteFrame(f, big.NewRat(at[0], 1000), big.NewRat(at[1], 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	e.Abort()
	e.Abort() // may be called again
	if want := [][2]int64{{7, 1}, {8, 1}, {0, 10}, {10, 1}, {11, 19}}; !slices.Equal(got, want) {
		t.Errorf("packets at and for %v, want %v", got, want)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewEncoder(cancelled, "out.mkv", r, opt, 0, put); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled encoder: %v", err)
	}
	opt.Encoder.Codec = ""
	if _, err := NewEncoder(t.Context(), "out.y4m", r, opt, 0, put); fault.KindOf(err) != fault.Usage {
		t.Errorf("a part of frames as they are: %v", err)
	}
	if output, err := newContainer("a.mkv", "a.mkv", ""); err != nil || container.Name(output) != "matroska" {
		t.Errorf("%v", err)
	} else {
		output.Free()
	}
}

// Who asks for DNxHD learns what it takes, also if FFmpeg's last line is of no help.
func TestRefusalsSayWhy(t *testing.T) {
	for _, c := range []struct {
		width, height int
		says, not     string
	}{
		{1280, 720, "Frame size: 1280x720p; bitrate: 90Mbps; pixel format: yuv422p;", "1920x1080"},
		{320, 180, "incompatible with DNxHD", "1920x1080"},
	} {
		r, err := Open(t.Context(), testClip(t, c.width, c.height, 1, "-pix_fmt", "yuv422p"), ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = NewEncoder(t.Context(), "out.mov", r, plainOptions(EncoderOptions{Codec: "dnxhd", CRF: -1}), 0, nil)
		if said := fmt.Sprint(err); !strings.Contains(said, c.says) || strings.Contains(said, c.not) || !strings.Contains(said, "profile=dnxhr_hq") {
			t.Errorf("%dx%d: %v", c.width, c.height, err)
		}
	}
}

// Interlaced DNxHD, for which DNxHR has no form, is written at its own bit rate, whether the container states that or not.
func TestInterlacedDNxHD(t *testing.T) {
	for _, c := range []struct {
		name, format string
		rate         int64 // nominal, in Mbit/s, at 25 frames a second; MOV states less, or more
	}{{"in.mxf", "yuv422p", 120}, {"in.mov", "yuv422p", 120}, {"in.mov", "yuv422p10le", 185}} {
		name, clip := c.name, filepath.Join(t.TempDir(), c.name)
		ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=25,setfield=tff,format="+c.format, "-frames:v", "2", "-c:v", "dnxhd", "-flags", "+ildct+ilme",
			"-b:v", fmt.Sprint(c.rate, "M"), clip)
		r, err := Open(t.Context(), clip, ReaderOptions{Deinterlace: KeepFields})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		opt := plainOptions(EncoderOptions{CRF: -1})
		opt.Rate = big.NewRat(25, 1)
		e, err := NewEncoder(t.Context(), name, r, opt, 0, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := e.context.BitRate(); e.CodecName() != "dnxhd" || got != c.rate*1e6 {
			t.Errorf("%s: %s at %d bit/s, want dnxhd at %d Mbit/s", name, e.CodecName(), got, c.rate)
		}
		e.Abort()
	}
}

// Encoders without a quality of their own keep to the rate of a disc's format; what the user chooses else for it has its own quality.
func TestDiscRates(t *testing.T) {
	for encoder, want := range map[string]string{"mpeg2video": "9M", "mpeg1video": "9M", "libx264": "", "ffv1": ""} {
		if got := defaultQuality(encoder, "vob", nil)["maxrate"]; got != want {
			t.Errorf("%s: the highest rate is %q, want %q", encoder, got, want)
		}
	}
	if got := defaultQuality("mpeg2video", "vob", map[string]string{"b": "5M"}); got != nil {
		t.Errorf("with a bit rate of the user's: %v", got)
	}
}

// VP8's threads wait for each other in loops, and their number would change the file.
func TestThreadsOfVP8(t *testing.T) {
	clip := testClip(t, 320, 240, 12)
	encode := func(threads int) []Packet {
		return encodeAll(t, clip, "out.webm", plainOptions(EncoderOptions{Codec: "libvpx", CRF: -1, Threads: threads}))
	}
	if one, four := encode(1), encode(4); !reflect.DeepEqual(one, four) {
		t.Errorf("with four threads the file is another")
	}
}
