package media_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
)

// matrixInput is a clip that must come through a conversion to twice its rate
// with all that it is.
type matrixInput struct {
	name   string // with the container's extension
	codec  string
	format string // of samples
	rate   string
	args   []string // more of ffmpeg's
	sound  string   // codec; empty for none
	side   string   // kind of side data; see sideData
}

// matrix crosses sample formats, containers, rates and descriptions.
func matrix() []matrixInput {
	rates := []string{"24", "25", "30000/1001", "50", "24000/1001", "12"}
	sounds := []string{"", "flac", "", "pcm_s16le"}
	var list []matrixInput
	for i, f := range []string{
		"gray", "gray10le", "gray12le", "gray16le", "yuv410p", "yuv411p", "yuv420p", "yuv422p", "yuv440p", "yuv444p",
		"yuv420p9le", "yuv422p9le", "yuv444p9le", "yuv420p10le", "yuv422p10le", "yuv440p10le", "yuv444p10le", "yuv420p12le", "yuv440p12le", "yuv444p12le",
		"yuv420p14le", "yuv444p14le", "yuv420p16le", "yuv422p16le", "yuv444p16le", "yuva420p", "yuva422p10le", "yuva444p16le",
		"gbrp9le", "gbrp10le", "gbrp12le", "gbrp14le", "gbrp16le", "gbrap10le", "gbrap16le", "bgr0", "bgra", "rgb48le", "rgba64le", "ya8",
	} {
		list = append(list, matrixInput{name: f + ".mkv", codec: "ffv1", format: f, rate: rates[i%len(rates)], sound: sounds[i%len(sounds)]})
	}
	for i, f := range []string{"nv12", "nv21", "yuyv422", "uyvy422", "rgb24", "argb", "rgb565le", "gray14le", "yuv420p10be", "gbrp12be"} {
		list = append(list, matrixInput{name: f + ".nut", codec: "rawvideo", format: f, rate: rates[i%len(rates)], sound: sounds[i%len(sounds)]})
	}
	tagged := func(primaries, transfer, matrix, extent string) []string {
		return []string{"-color_primaries", primaries, "-color_trc", transfer, "-colorspace", matrix, "-color_range", extent}
	}
	bt709, full := tagged("bt709", "bt709", "bt709", "tv"), tagged("bt709", "iec61966-2-1", "bt709", "pc")
	pq, hlg := tagged("bt2020", "smpte2084", "bt2020nc", "tv"), tagged("bt2020", "arib-std-b67", "bt2020nc", "tv")
	return append(list,
		matrixInput{"h264.mp4", "libx264", "yuv420p", "24000/1001", bt709, "aac", ""},
		matrixInput{"full.mp4", "libx264", "yuv420p", "30", full, "", ""},
		matrixInput{"hi10.mp4", "libx264", "yuv422p10le", "25", pq, "aac", ""},
		matrixInput{"hlg.mkv", "libx264", "yuv444p10le", "50", hlg, "flac", ""},
		matrixInput{"topleft.mkv", "ffv1", "yuv420p10le", "24", append(slices.Clone(pq), "-chroma_sample_location", "topleft"), "", ""},
		matrixInput{"hevc.mp4", "libx265", "yuv420p10le", "24", append(slices.Clone(pq), "-x265-params", "log-level=error:max-cll=1000,400:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"), "", ""},
		matrixInput{"anamorphic.mkv", "ffv1", "yuv420p", "25", append(slices.Clone(bt709), "-aspect", "2.35"), "flac", ""},
		matrixInput{"pal.mov", "prores_ks", "yuv422p10le", "25", append(tagged("bt470bg", "bt709", "bt470bg", "tv"), "-aspect", "16:9"), "pcm_s16le", ""},
		matrixInput{"alpha.mov", "prores_ks", "yuva444p10le", "24", []string{"-profile:v", "4444"}, "", ""},
		matrixInput{"animation.mov", "qtrle", "argb", "12", nil, "", ""},
		matrixInput{"v210.mov", "v210", "yuv422p10le", "30000/1001", bt709, "pcm_s16le", ""},
		matrixInput{"png.mov", "png", "rgba", "24", nil, "", ""},
		matrixInput{"vp8.webm", "libvpx", "yuv420p", "30", nil, "libopus", ""},
		matrixInput{"vp9.webm", "libvpx-vp9", "yuv444p", "25", bt709, "libopus", ""},
		matrixInput{"vp9.mkv", "libvpx-vp9", "yuv420p10le", "24", hlg, "", ""},
		matrixInput{"huffyuv.avi", "huffyuv", "yuv422p", "25", nil, "pcm_s16le", ""},
		matrixInput{"utvideo.avi", "utvideo", "gbrap", "24", nil, "", ""},
		matrixInput{"mjpeg.avi", "mjpeg", "yuvj422p", "15", nil, "pcm_s16le", ""},
		matrixInput{"h264.ts", "libx264", "yuv420p", "50", bt709, "aac", ""},
		matrixInput{"mpeg2.mpg", "mpeg2video", "yuv420p", "25", nil, "mp2", ""},
		matrixInput{"raw.y4m", "wrapped_avframe", "yuv411p", "30000/1001", nil, "", ""},
		matrixInput{"raw.h264", "libx264", "yuv420p", "25", bt709, "", ""},
		matrixInput{"stereo.mkv", "libx264", "yuv420p", "24", bt709, "", "stereo"},
		matrixInput{"spherical.mkv", "libx264", "yuv420p", "24", bt709, "", "spherical"},
		matrixInput{"light.mkv", "libx264", "yuv420p10le", "24", pq, "", "light"},
		matrixInput{"rotation.mp4", "libx264", "yuv420p", "24", bt709, "", "rotation"},
	)
}

// frames of each input.
const matrixFrames = 4

// write makes the clip in dir.
func (m matrixInput) write(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, m.name)
	args := []string{"-f", "lavfi", "-i", "testsrc2=s=64x48:r=" + m.rate, "-f", "lavfi", "-i", "sine=r=48000", "-map", "0:v"}
	if m.sound != "" {
		args = append(args, "-map", "1:a", "-c:a", m.sound, "-ac", "2")
	}
	args = append(args, "-frames:v", fmt.Sprint(matrixFrames), "-t", "1", "-pix_fmt", m.format, "-c:v", m.codec, "-strict", "-2", "-metadata", "title=The Film")
	out := name
	if m.side != "" {
		out = filepath.Join(dir, "plain-"+m.name)
	}
	ffmpeg(t, append(append(args, m.args...), out)...)
	if m.side != "" {
		describe(t, out, name, m.side)
	}
	return name
}

// shown is what ffprobe tells of a file.
type shown struct {
	Streams []struct {
		Kind      string           `json:"codec_type"`
		Codec     string           `json:"codec_name"`
		Format    string           `json:"pix_fmt"`
		Aspect    string           `json:"sample_aspect_ratio"`
		Range     string           `json:"color_range"`
		Matrix    string           `json:"color_space"`
		Transfer  string           `json:"color_transfer"`
		Primaries string           `json:"color_primaries"`
		Chroma    string           `json:"chroma_location"`
		Side      []map[string]any `json:"side_data_list"`
	} `json:"streams"`
	File struct {
		Tags map[string]string `json:"tags"`
	} `json:"format"`
}

func probe(t *testing.T, name string) (s shown) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", name).Output()
	if err != nil {
		t.Skipf("ffprobe: %v", err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// traits lists what is true of the clip's pictures and streams, in words that are
// the same wherever nothing was lost.
func (s shown) traits() []string {
	var out []string
	for i, st := range s.Streams {
		out = append(out, fmt.Sprintf("stream %d is %s", i, st.Kind))
		if st.Kind == "audio" {
			out = append(out, "sound "+st.Codec)
			continue
		}
		if st.Aspect != "" && st.Aspect != "1:1" {
			out = append(out, "aspect "+st.Aspect)
		}
		for what, v := range map[string]string{
			"range": st.Range, "matrix": st.Matrix, "transfer": st.Transfer, "primaries": st.Primaries, "chroma": st.Chroma,
		} {
			if v != "" && v != "unknown" && v != "unspecified" {
				out = append(out, what+" "+v)
			}
		}
		for _, d := range st.Side {
			if kind := fmt.Sprint(d["side_data_type"]); kind != "CPB properties" {
				out = append(out, "side data "+kind)
			}
		}
	}
	if title := s.File.Tags["title"]; title != "" {
		out = append(out, "title "+title)
	}
	slices.Sort(out)
	return out
}

// missing returns those of want that got has not.
func missing(want, got []string) []string {
	return slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(got, s) })
}

// lossless is the container and encoder that keep all of m's samples.
func (m matrixInput) lossless(dir string) (name, codec string, options map[string]string) {
	switch {
	case filepath.Ext(m.name) == ".nut", strings.HasPrefix(m.format, "yuva444p10"): // decoded to 12 bits, which FFV1 has not with alpha
		return filepath.Join(dir, "out.nut"), "rawvideo", nil
	case m.side == "rotation":
		return filepath.Join(dir, "out.mov"), "libx264", map[string]string{"qp": "0"}
	}
	return filepath.Join(dir, "out.mkv"), "ffv1", nil
}

func TestPassThroughMatrix(t *testing.T) {
	list := matrix()
	if len(list) < 60 {
		t.Fatalf("%d inputs", len(list))
	}
	for i, m := range list {
		if (testing.Short() || cliptest.Race) && i%4 != 0 {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := pipeline.Options{Input: pipeline.Input{File: m.write(t, dir)}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Threads: 1}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
			o.Output.File, o.Output.VideoCodec, o.Output.VideoOptions = m.lossless(dir)
			report := mustRun(t, o)
			source, times, v := readAll(t, o.Input.File)
			got, at, w := readAll(t, o.Output.File)
			if len(got) != 2*len(source) || len(source) != matrixFrames || int64(len(got)) != report.Frames {
				t.Fatalf("%d frames of %d", len(got), len(source))
			}
			if w.Format.Depth != v.Format.Depth || w.Format.Planes != v.Format.Planes || w.Format.RGB != v.Format.RGB ||
				w.Format.ChromaX != v.Format.ChromaX || w.Format.ChromaY != v.Format.ChromaY {
				t.Errorf("%s became %s", v.Source, w.Source)
			}
			for i := range source {
				if !bytes.Equal(source[i], got[2*i]) {
					t.Errorf("source frame %d came through changed", i)
				}
			}
			// Timestamps may be rounded to milliseconds on both sides.
			for i := range times {
				a, b := new(big.Rat).Sub(times[i], times[0]), new(big.Rat).Sub(at[2*i], at[0])
				if d := a.Sub(a, b); d.Abs(d).Cmp(big.NewRat(21, 10000)) > 0 {
					t.Errorf("source frame %d is %s s off", i, d.FloatString(5))
				}
			}
			lost := missing(probe(t, o.Input.File).traits(), probe(t, o.Output.File).traits())
			if filepath.Ext(o.Output.File) == ".nut" { // which names no colours
				lost = slices.DeleteFunc(lost, func(s string) bool { return strings.HasPrefix(s, "range") })
			}
			if len(lost) > 0 {
				t.Errorf("lost: %s", strings.Join(lost, ", "))
			}
		})
	}
}

// fidelityInputs are those of the matrix that docs/fidelity.md compares.
var fidelityInputs = []string{
	"gray.mkv", "gray16le.mkv", "yuv411p.mkv", "yuv420p.mkv", "yuv422p10le.mkv", "yuv444p12le.mkv", "yuva420p.mkv", "gbrp10le.mkv", "bgra.mkv", "rgb48le.mkv",
	"nv12.nut", "rgb24.nut", "h264.mp4", "full.mp4", "hi10.mp4", "hlg.mkv", "anamorphic.mkv", "png.mov", "mjpeg.avi", "light.mkv",
}

// TestFidelity writes the table of docs/fidelity.md where RETIME_WRITE_DOCS is set: what
// FFmpeg's minterpolate loses of the same inputs.
func TestFidelity(t *testing.T) {
	if os.Getenv("RETIME_WRITE_DOCS") == "" {
		t.Skip("RETIME_WRITE_DOCS=1 writes the table of docs/fidelity.md")
	}
	all := map[string]matrixInput{}
	for _, m := range matrix() {
		all[m.name] = m
	}
	var rows strings.Builder
	for _, name := range fidelityInputs {
		m, ok := all[name]
		if !ok {
			t.Fatalf("%s is not in %v", name, slices.Sorted(maps.Keys(all)))
		}
		dir := t.TempDir()
		input := m.write(t, dir)
		out, codec, _ := m.lossless(dir)
		mustRun(t, pipeline.Options{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: out, VideoCodec: codec}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}})
		peer := filepath.Join(dir, "peer"+filepath.Ext(out))
		ffmpeg(t, "-i", input, "-map", "0", "-c", "copy", "-c:v", codec, "-vf", "minterpolate=fps=2*("+m.rate+"):mi_mode=mci", peer)
		fmt.Fprintf(&rows, "| %s, %s | %s | %s |\n", m.name, m.format, verdict(t, input, out), verdict(t, input, peer))
	}
	old, err := os.ReadFile("../../docs/fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(old), fidelityTable)
	_, foot, ended := strings.Cut(rest, "\n\n")
	if !ok || !ended {
		t.Fatal("docs/fidelity.md has no such table")
	}
	text := head + fidelityTable + rows.String() + "\n" + foot
	if err := os.WriteFile("../../docs/fidelity.md", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// verdict says what the output lacks of the input.
func verdict(t *testing.T, input, output string) string {
	source, _, v := readAll(t, input)
	got, _, w := readAll(t, output)
	var parts []string
	if v.Format.Depth != w.Format.Depth || v.Format.Planes != w.Format.Planes || v.Format.RGB != w.Format.RGB ||
		v.Format.ChromaX != w.Format.ChromaX || v.Format.ChromaY != w.Format.ChromaY {
		parts = append(parts, v.Source+" became "+w.Source)
	}
	if n := 2*len(source) - len(got); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d frames", n, 2*len(source)))
	}
	changed := 0
	for i := range source {
		if 2*i >= len(got) || !bytes.Equal(source[i], got[2*i]) {
			changed++
		}
	}
	if changed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d source frames changed or gone", changed, len(source)))
	}
	if lost := missing(probe(t, input).traits(), probe(t, output).traits()); len(lost) > 0 {
		parts = append(parts, strings.Join(lost, ", "))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// fidelityTable begins the table in docs/fidelity.md.
const fidelityTable = "\n| input | retime loses | minterpolate loses |\n|---|---|---|\n"
