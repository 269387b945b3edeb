package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

// richClip is a Matroska file with everything in it: two sounds, subtitles, a
// font, a cover, chapters, tags, languages, dispositions.
func richClip(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	subtitles := write("s.srt", "1\n00:00:00,200 --> 00:00:00,700\nhello\n\n")
	tags := write("tags.txt", ";FFMETADATA1\ntitle=The Film\nartist=Someone\ncustomkey=value\n"+
		"[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1000\ntitle=Two\n")
	font := write("font.ttf", strings.Repeat("glyphs ", 100))
	cover, clip := filepath.Join(dir, "cover.jpg"), filepath.Join(dir, "rich.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "color=red:s=40x40", "-frames:v", "1", cover)
	ffmpeg(t, "-i", writeScene(t, 64, 48, 24, 24, 1), "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i", "sine=f=600:d=1", "-i", subtitles, "-i", tags,
		"-map", "0", "-map", "1", "-map", "2", "-map", "3", "-map_metadata", "4", "-c:v", "ffv1", "-c:a", "flac", "-c:s", "srt",
		"-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=fra", "-metadata:s:a:1", "title=Commentaire",
		"-disposition:a:0", "default", "-disposition:a:1", "comment", "-metadata:s:s:0", "language=deu", "-disposition:s:0", "forced",
		"-attach", font, "-metadata:s:t:0", "mimetype=font/ttf", "-attach", cover, "-metadata:s:t:1", "mimetype=image/jpeg", "-metadata:s:t:1", "filename=cover.jpg", clip)
	return clip
}

// inventory lists a file's streams with their tags and dispositions, its chapters
// and its own tags, without what tells of the muxer.
func inventory(t *testing.T, name string) []string {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-show_chapters", "-of", "compact", "-show_entries",
		"stream=codec_name,codec_type:stream_disposition=default,forced,comment,attached_pic:stream_tags:format_tags:chapter_tags:chapter=start_time,end_time", name).Output()
	if err != nil {
		t.Skipf("ffprobe: %v", err)
	}
	out = regexp.MustCompile(`(?i)\|(tag:(encoder|duration|major_brand|minor_version|compatible_brands|handler_name|vendor_id)|id|start|end|time_base)=[^|\n]*`).ReplaceAll(out, nil)
	lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(s string) bool { return s == "" })
	for i, line := range lines {
		parts := strings.Split(line, "|")
		slices.Sort(parts[1:]) // tags come in any order
		lines[i] = strings.Join(parts, "|")
	}
	return lines
}

func TestEveryStreamGoesThrough(t *testing.T) {
	input := richClip(t)
	want := inventory(t, input)
	if len(want) != 9 { // six streams, two chapters, the file
		t.Fatalf("the input has %d entries:\n%s", len(want), strings.Join(want, "\n"))
	}
	o := pipeline.Options{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
	var said strings.Builder
	o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
	mustRun(t, o)
	if got := inventory(t, o.Output.File); !slices.Equal(got, want) || said.String() != "" {
		t.Errorf("the output has\n%s\nwant\n%s\nsaid %q", strings.Join(got, "\n"), strings.Join(want, "\n"), said.String())
	}
	for _, args := range [][]string{{"-map", "0:a", "-c", "copy"}, {"-map", "0:s", "-c", "copy"}, {"-map", "0:v:1", "-c", "copy"}} {
		hash := func(name string) string {
			return ffmpeg(t, append(append([]string{"-i", name}, args...), "-f", "streamhash", "-")...)
		}
		if a, b := hash(input), hash(o.Output.File); a != b {
			t.Errorf("%v: packets changed: %s became %s", args, a, b)
		}
	}
}

// What a container cannot hold is said in a line for each stream.
func TestLeftOutIsSaid(t *testing.T) {
	input := richClip(t)
	for _, c := range []struct {
		name          string
		streams, also int // left out, and lines about other things
	}{{"out.mp4", 1, 2}, {"out.avi", 3, 3}, {"out.webm", 2, 3}, {"out.ts", 3, 5}, {"out.y4m", 5, 2}} {
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.name), PixelFormat: "yuv420p"}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		if n := strings.Count(said.String(), "stream left out"); n != c.streams || strings.Count(said.String(), "\n") != n+c.also {
			t.Errorf("%s: %d streams named, want %d and %d lines more:\n%s", c.name, n, c.streams, c.also, said.String())
		}
		if c.name == "out.mp4" && !strings.Contains(strings.Join(inventory(t, o.Output.File), "\n"), "attached_pic=1") {
			t.Error("the cover is not in the MP4 file")
		}
	}
}

// MP4 holds tags of one's own if it is told to, and who does not tell it learns how.
func TestOwnTagsInMP4(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "a.mkv")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 6, 24, 1), "-c:v", "ffv1", "-metadata", "title=The Film", "-metadata", "com.apple.quicktime.make=Maker", clip)
	for _, c := range []struct {
		name, flags string
		kept        bool
	}{
		{"o.mp4", "", false},
		{"o.mp4", "+use_metadata_tags", true},
		{"o.mov", "faststart+use_metadata_tags", true},
		{"o.mov", "-use_metadata_tags", false},
		{"o.3gp", "+use_metadata_tags", false},
	} {
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.name), MuxOptions: map[string]string{}}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
		if c.flags != "" {
			o.Output.MuxOptions["movflags"] = c.flags
		}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		if kept := strings.Contains(strings.ToLower(strings.Join(inventory(t, o.Output.File), "\n")), "com.apple.quicktime.make=maker"); kept != c.kept {
			t.Errorf("%s, %q: kept %v", c.name, c.flags, kept)
		}
		if warned := strings.Contains(said.String(), "tags left out"); warned == c.kept {
			t.Errorf("%s, %q: said %s", c.name, c.flags, said.String())
		}
		if hint := strings.Contains(said.String(), "movflags=+use_metadata_tags"); hint != (!c.kept && c.name != "o.3gp") {
			t.Errorf("%s, %q: said %s", c.name, c.flags, said.String())
		}
	}
}

// Tags of the file and of its streams are in the output, or a warning names them.
func TestTagsAreKeptOrNamed(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "a.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=352x288:r=25:d=0.2", "-f", "lavfi", "-i", "sine=r=48000:d=0.2", "-c:v", "mpeg2video", "-c:a", "mp2",
		"-metadata", "artist=Somebody", "-metadata:s:a", "title=Comments", "-metadata:s:a", "language=ger", clip)
	for _, name := range []string{"o.mkv", "o.avi", "o.ts", "o.vob", "o.nut", "o.wmv", "o.mpg", "o.mxf"} {
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name)}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "flat", o.Output.File).Output()
		if err != nil {
			t.Fatal(err)
		}
		for value, named := range map[string]string{"Somebody": "tags=ARTIST", "Comments": "title Comments of stream 1", "ger": "language ger of stream 1"} {
			if kept := strings.Contains(string(out), `"`+value+`"`); strings.Contains(said.String(), named) == kept {
				t.Errorf("%s: %s is kept: %v; said %s", name, value, kept, said.String())
			}
		}
	}
}

func TestMap(t *testing.T) {
	input := richClip(t)
	for _, c := range []struct {
		maps []string
		want []string // kinds of streams in the output
	}{
		{[]string{"0:v:0"}, []string{"video"}},
		{[]string{"0:v:0", "0:a:1"}, []string{"video", "audio"}},
		{[]string{"0", "-0:s", "-0:t", "-0:v:1"}, []string{"video", "audio", "audio"}},
		{[]string{"-0:a"}, []string{"video", "subtitle", "attachment", "video"}},
		{[]string{"0:V", "0:a:m:language:fra", "0:s?", "0:d?"}, []string{"video", "audio", "subtitle"}},
		{[]string{"0:0"}, []string{"video"}},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: input, Map: c.maps}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		var got []string
		for _, line := range inventory(t, o.Output.File) {
			if m := regexp.MustCompile(`codec_type=(\w+)`).FindStringSubmatch(line); m != nil {
				got = append(got, m[1])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Input.Map %v: streams %v, want %v", c.maps, got, c.want)
		}
	}
	for _, c := range []struct{ maps, says string }{
		{"1:v", "number 0"}, {"0:a", "no video stream"}, {"0:d", "matches no stream"}, {"0:v:7", "0:1 (audio, flac)"}, {"0:xyz", "specifier"}, {"", "want"},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: input, Map: []string{c.maps}}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv")}}
		if _, err := pipeline.Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("Input.Map %q: %v, want %q", c.maps, err, c.says)
		}
	}
}

// The video stream that --map chooses is the one that is converted; others are
// copied.
func TestSecondVideo(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "two.mkv")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 6, 24, 1), "-i", writeScene(t, 32, 24, 6, 24, 1), "-map", "0", "-map", "1", "-c:v", "ffv1", clip)
	for _, c := range []struct {
		maps   []string
		width  int
		frames string
	}{{nil, 64, "12,6"}, {[]string{"0:v:1"}, 32, "12"}} {
		o := pipeline.Options{Input: pipeline.Input{File: clip, Map: c.maps}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
		if report := mustRun(t, o); report.Width != c.width {
			t.Errorf("Input.Map %v: converted the stream of width %d", c.maps, report.Width)
		}
		out, err := exec.Command("ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", o.Output.File).Output()
		if got := strings.Join(strings.Fields(string(out)), ","); err != nil || got != c.frames {
			t.Errorf("Input.Map %v: packets %q, want %q", c.maps, got, c.frames)
		}
	}
}

// A second stream of H.264 whose packets state lengths goes where they are read.
func TestSecondVideoWithLengths(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "two.mp4")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 6, 24, 1), "-i", writeScene(t, 32, 24, 6, 24, 1), "-map", "0", "-map", "1", "-c:v", "libx264", clip)
	for name, want := range map[string]string{"out.mkv": "h264,h264", "out.mov": "h264,h264", "out.avi": "h264", "out.vob": "mpeg2video"} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "default=nw=1:nk=1", o.Output.File).Output()
		if got := strings.Join(strings.Fields(string(out)), ","); err != nil || got != want {
			t.Errorf("%s: streams %s, %v; want %s", name, got, err, want)
		}
	}
}

// Names of programs go from transport stream to transport stream.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "in.ts")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 6, 24, 1), "-c:v", "libx264", "-metadata", "service_name=Channel", "-metadata", "service_provider=Someone", clip)
	o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, "out.ts")}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
	mustRun(t, o)
	out, err := exec.Command("ffprobe", "-v", "error", "-show_programs", o.Output.File).Output()
	if err != nil || !strings.Contains(string(out), "service_name=Channel") || !strings.Contains(string(out), "service_provider=Someone") {
		t.Errorf("programs (%v):\n%s", err, out)
	}
}

// Chapters come in the order in which the output shows them, also where a curve goes back.
func TestChaptersOfACurveThatGoesBack(t *testing.T) {
	dir := t.TempDir()
	marks, clip := filepath.Join(dir, "marks.txt"), filepath.Join(dir, "clip.mkv")
	text := ";FFMETADATA1\n"
	for i, title := range []string{"A", "B", "C"} {
		text += fmt.Sprintf("[CHAPTER]\nTIMEBASE=1/1\nSTART=%d\nEND=%d\ntitle=%s\n", 2*i, 2*i+2, title)
	}
	if err := os.WriteFile(marks, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=24:d=6", "-i", marks, "-map_metadata", "1", "-c:v", "libx264", clip)
	for _, name := range []string{"out.mp4", "out.mkv"} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, name)}}
		o.Synthesis.Mode, o.Timing.Curve = warp.Nearest, mustParse(t, "source output\n4.5 0\n5.5 1\n1 2\n1.5 3")
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-show_chapters", "-of", "compact=p=0", "-show_entries", "chapter=start_time:chapter_tags=title", o.Output.File).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Fields(string(out)), []string{"start_time=0.000000|tag:title=C", "start_time=2.000000|tag:title=A"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Of HLS, the streams of the video's own variant are carried; --map chooses those of others.
func TestVariantsOfHLS(t *testing.T) {
	dir := t.TempDir()
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1", "-map", "0", "-map", "1", "-map", "0", "-map", "1", "-map", "1",
		"-c:v", "libx264", "-s:v:0", "32x24", "-c:a", "aac", "-f", "hls", "-master_pl_name", "all.m3u8",
		"-var_stream_map", "v:0,agroup:low a:0,agroup:low v:1,agroup:high a:1,agroup:high,language:eng a:2,agroup:high,language:fre", filepath.Join(dir, "v%v.m3u8"))
	for _, c := range []struct {
		list []string
		want []string
	}{
		{nil, []string{"h264,64", "aac", "aac"}},
		{[]string{"0:v:0", "0:a:0"}, []string{"h264,32", "aac"}},
	} {
		o := pipeline.Options{
			Input:     pipeline.Input{File: filepath.Join(dir, "all.m3u8"), Map: c.list},
			Output:    pipeline.Output{File: filepath.Join(t.TempDir(), "o.mkv")},
			Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
		}
		mustRun(t, o)
		got := append(streamsOf(t, o.Output.File, "v", "codec_name,width"), streamsOf(t, o.Output.File, "a", "codec_name")...)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.list, got, c.want)
		}
	}
}

// A decoder of a transport stream has half a second, or more, from when a packet arrives to when it is due, and each packet of sound
// has a time of its own.
func TestPacketsArriveBeforeTheyAreDue(t *testing.T) {
	clip := containerClip(t, "in.mkv", "64x48", 48000, 2, "-c:v", "libx264", "-c:a", "ac3")
	out := filepath.Join(t.TempDir(), "o.ts")
	mustRun(t, pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: out}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}})
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	const begins, adapted, stated = 1 << 6, 1 << 5, 1 << 4
	clock, due := int64(-1), map[byte]int{}
	for p := range slices.Chunk(data, 188) {
		payload := p[4:]
		if p[3]&adapted != 0 {
			if p[4] > 0 && p[5]&stated != 0 {
				clock = int64(binary.BigEndian.Uint32(p[6:]))<<1 | int64(p[10]>>7)
			}
			payload = payload[1+int(p[4]):]
		}
		if p[1]&begins == 0 || !bytes.HasPrefix(payload, []byte{0, 0, 1}) {
			continue
		}
		at := payload[9:]
		if payload[7]>>6 == 3 { // the decoding time follows
			at = at[5:]
		}
		time := int64(at[0]>>1&7)<<30 | int64(binary.BigEndian.Uint16(at[1:])>>1)<<15 | int64(binary.BigEndian.Uint16(at[3:])>>1)
		if due[payload[3]]++; clock < 0 || time-clock < 45_000 {
			t.Errorf("stream %#x, packet %d comes at %d, and is due at %d", payload[3], due[payload[3]], clock, time)
		}
	}
	if due[0xe0] != 5 || due[0xbd] < 6 {
		t.Errorf("%v packets", due)
	}
}

// A part of HLS begins where it should, also if the segments are fragments of MP4, and short.
func TestPartsOfHLS(t *testing.T) {
	for _, kind := range []string{"mpegts", "fmp4"} {
		list := filepath.Join(t.TempDir(), "list.m3u8")
		ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-c:v", "libx264", "-g", "10", "-sc_threshold", "0",
			"-f", "hls", "-hls_time", "0.4", "-hls_list_size", "0", "-hls_segment_type", kind, list)
		o := lossless(t, list)
		o.Timing.From = big.NewRat(3, 2)
		mustRun(t, o)
		all, _, _ := readAll(t, list)
		part, _, _ := readAll(t, o.Output.File)
		if len(part) < 12 || !slices.EqualFunc(part, all[len(all)-len(part):], bytes.Equal) {
			t.Errorf("%s: %d frames, or others than the last of %d", kind, len(part), len(all))
		}
	}
}
