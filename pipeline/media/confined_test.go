package media

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/confine"
	"retime/pipeline/fault"
	"retime/pipeline/media/verify"
	"retime/testdata/posix"
)

// opens opens an input and decodes its first picture.
func opens(t *testing.T, name, format string, in confine.Dir) error {
	t.Helper()
	r, err := Open(context.Background(), name, ReaderOptions{Format: format, Confine: in})
	if err == nil {
		r.Close()
	}
	return err
}

// A confined input opens nothing but itself: neither files that a playlist names, wherever
// they lie, nor files outside, nor what is no file.
func TestConfinedInputs(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"in", "out", "in/frames", "in/linked"} {
		if err := os.Mkdir(at(dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-frames:v", "3", "-c:v", "mpeg2video", at("in/a.ts"))
	ffmpegProgram(t, "ffmpeg", "-i", at("in/a.ts"), at("in/frames/%d.png"))
	for _, err := range []error{
		os.Link(at("in/a.ts"), at("out/a.ts")), os.Symlink(at("out/a.ts"), at("in/link.ts")), os.Symlink("a.ts", at("in/within.ts")),
		os.Link(at("in/frames/1.png"), at("in/linked/1.png")), os.Link(at("in/frames/2.png"), at("out/2.png")),
		os.Symlink("../../out/2.png", at("in/linked/2.png")), os.Link(at("in/a.ts"), at("out/a%1.ts")), posix.Mkfifo(t, at("in/pipe"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n"
	write("in/near.m3u8", list+"a.ts\n#EXT-X-ENDLIST\n")
	write("in/far.m3u8", list+"../out/a.ts\n#EXT-X-ENDLIST\n")
	write("in/list.ffconcat", "ffconcat version 1.0\nfile a.ts\n")
	in, err := confine.New(at("in"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, format string
		open         bool // if it is not confined
		want         fault.Kind
		says         string
	}{
		{"in/a.ts", "", true, 0, ""},
		{"in/within.ts", "", true, 0, ""},
		{"in/frames/1.png", "", true, 0, ""},
		{"in/frames/%d.png", "", true, 0, ""},
		{"in/near.m3u8", "", true, fault.BadData, "a.ts"},
		{"in/far.m3u8", "", true, fault.BadData, "out/a.ts"},
		{"in/list.ffconcat", "", true, fault.BadData, "a.ts"},
		{"out/a.ts", "", true, fault.Usage, "Compute.Confine"},
		{"in/../out/a.ts", "", true, fault.Usage, "Compute.Confine"},
		{"in/link.ts", "", true, fault.Usage, "Compute.Confine"},
		{"in/linked/%d.png", "", true, fault.Usage, "Compute.Confine"},
		{"in/frames/%d.png", "concat", false, fault.BadData, ""},
		{"in/none.ts", "", false, fault.NoInput, "no such file"},
	} {
		if c.open {
			if err := opens(t, at(c.name), c.format, confine.Dir{}); err != nil {
				t.Errorf("%s, not confined: %v", c.name, err)
			}
		}
		err := opens(t, at(c.name), c.format, in)
		if c.want == 0 && err != nil || c.want != 0 && (err == nil || c.says != "" && (fault.KindOf(err) != c.want || !strings.Contains(err.Error(), c.says))) {
			t.Errorf("%s %s: %v", c.name, c.format, err)
		}
	}
	t.Chdir(at("in"))
	for _, name := range []string{at("in/pipe"), "/dev/zero", "http://127.0.0.1:1/a.ts", "concat:" + at("in/a.ts") + "|" + at("out/a.ts"), "pipe:7", "file:" + at("out/a.ts"), "file:" + at("out/a%1.ts"), "file:" + at("out/%d.png"), "subfile,,start,0,end,9,,:" + at("out/a.ts")} {
		if err := opens(t, name, "", in); fault.KindOf(err) != fault.Usage && fault.KindOf(err) != fault.NoInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A confined output is one file below the directory, whose encoders write no other.
func TestConfinedOutputs(t *testing.T) {
	top := t.TempDir()
	clip := filepath.Join(top, "a.ts")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-f", "lavfi", "-i", "sine", "-t", "0.1", "-c:v", "mpeg2video", "-c:a", "mp2", clip)
	in, err := confine.New(top)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(top, "away")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, format, codec, key, value string
		mux                             map[string]string
		good                            bool
	}{
		{name: "a.mkv", good: true},
		{name: "%03d.png", good: true},
		{name: "b.mkv", codec: "libx264", key: "preset", value: "ultrafast", good: true},
		{name: "c.mkv", codec: "libx264", key: "qp", value: "20", good: true},
		{name: "d.mp4", mux: map[string]string{"movflags": "+faststart"}, good: true},
		{name: "d.mp4", mux: map[string]string{"encryption_key": "00"}},
		{name: "d.mkv", mux: map[string]string{"protocol_whitelist": "file"}},
		{name: "away/a.mkv"},
		{name: "away/%03d.png"},
		{name: "../a.mkv"},
		{name: "d.mkv", format: "tee"},
		{name: "d.mkv", format: "hls"},
		{name: "d.mkv", format: "dash"},
		{name: "d.mkv", format: "segment"},
		{name: "d.mkv", codec: "libx264", key: "stats", value: elsewhere + "/stats"},
		{name: "d.mkv", codec: "libx264", key: "passlogfile", value: elsewhere + "/stats"},
		{name: "d.mkv", codec: "libx264", key: "x264-params", value: "stats=" + elsewhere + "/stats"},
		{name: "d.mkv", codec: "libx264", key: "x264opts", value: "stats=" + elsewhere + "/stats"},
		{name: "d.mkv", codec: "libx264", key: "flags", value: "+pass1"},
		{name: "d.mkv", codec: "libx265", key: "x265-params", value: "csv=" + elsewhere + "/csv"},
	} {
		r, err := Open(context.Background(), clip, ReaderOptions{Confine: in})
		if err != nil {
			t.Fatal(err)
		}
		opt := plainOptions(EncoderOptions{Codec: c.codec, CRF: -1})
		opt.Container, opt.Confine = ContainerOptions{c.format, c.mux}, in
		if c.key != "" {
			opt.Encoder.Options = map[string]string{c.key: c.value}
		}
		w, err := Create(context.Background(), top+"/"+c.name, r, opt)
		if err == nil {
			w.Abort()
		}
		reason := "Compute.Confine"
		if c.format != "" {
			reason = "several files" // for which no output is made, confined or not
		}
		if c.good != (err == nil) || err != nil && (fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), reason)) {
			t.Errorf("%+v: %v", c, err)
		}
		r.Close()
	}
	if left := namesIn(t, elsewhere); len(left) > 0 {
		t.Errorf("outside are %q", left)
	}
}

// A confined output is checked without another file: one that looks like a playlist once it
// is written opens nothing that it names.
func TestConfinedVerification(t *testing.T) {
	top := t.TempDir()
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25", "-frames:v", "3", "-c:v", "mpeg2video", filepath.Join(top, "a.ts"))
	list := filepath.Join(top, "a.m3u8")
	if err := os.WriteFile(list, []byte("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, alone := range []bool{false, true} {
		f := verify.File{Streams: []verify.Stream{{}}, Alone: alone}
		if err := f.Check(t.Context(), "file:"+list); err == nil || strings.Contains(err.Error(), "cannot be opened") != alone {
			t.Errorf("alone %v: %v", alone, err)
		}
	}
	in, err := confine.New(top)
	if err != nil {
		t.Fatal(err)
	}
	demo := filepath.Join("..", "..", "testdata", "demo.mp4")
	opt := plainOptions(EncoderOptions{Codec: "ffv1", CRF: -1})
	opt.Confine, opt.Verify = in, true
	r, err := Open(context.Background(), demo, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := Create(context.Background(), filepath.Join(top, "a.mkv"), r, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	f, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	if err := w.WriteFrame(f, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Skim(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(false); err != nil {
		t.Error(err)
	}
}
