package pipeline

import (
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/warp"
)

// subtitled makes a clip of 4 seconds with three subtitles and two chapters.
func subtitled(t *testing.T, name, codec string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{
		"s.srt": "1\n00:00:00,500 --> 00:00:01,500\none\n\n2\n00:00:01,750 --> 00:00:02,250\ntwo\n\n3\n00:00:03,000 --> 00:00:03,500\nthree\n",
		"c.txt": ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle=first\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=4000\ntitle=second\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clip := filepath.Join(dir, name)
	ffmpeg(t, "-i", writeScene(t, 32, 32, 96, 24, 1), "-i", filepath.Join(dir, "s.srt"), "-i", filepath.Join(dir, "c.txt"),
		"-map", "0:v", "-map", "1:s", "-map_chapters", "2", "-metadata:s:s:0", "language=deu",
		"-c:v", "libx264", "-pix_fmt", "yuv420p", "-bf", "0", "-c:s", codec, clip)
	return clip
}

// Subtitles and chapters last as long as what they were shown over.
func TestSubtitlesAndChaptersFollowTheTime(t *testing.T) {
	for _, c := range []struct {
		slow                int64
		from, to            *big.Rat
		subtitles, chapters string
	}{
		{1, nil, nil, "0.500000,1.000000 1.750000,0.500000 3.000000,0.500000", "0.000000,2.000000,first 2.000000,4.000000,second"},
		{2, nil, nil, "1.000000,2.000000 3.500000,1.000000 6.000000,1.000000", "0.000000,4.000000,first 4.000000,8.000000,second"},
		{1, big.NewRat(1, 1), big.NewRat(2, 1), "0.000000,0.500000 0.750000,0.250000", "0.000000,1.000000,first"},
		{3, big.NewRat(1, 1), nil, "0.000000,1.500000 2.250000,1.500000 6.000000,1.500000", "0.000000,3.000000,first 3.000000,9.000000,second"},
	} {
		for name, codec := range map[string]string{"clip.mkv": "subrip", "clip.mp4": "mov_text"} {
			clip := subtitled(t, name, codec)
			o := Options{
				Input: clip, Output: filepath.Join(t.TempDir(), name), Mode: warp.Nearest,
				Slow: big.NewRat(c.slow, 1), From: c.from, To: c.to,
			}
			mustRun(t, o)
			got := program(t, "ffprobe", "-v", "error", "-select_streams", "s", "-show_entries", "packet=pts_time,duration_time,size", "-of", "csv=p=0", o.Output)
			if got := texts(got); got != c.subtitles {
				t.Errorf("%s %d times slower from %v to %v: subtitles\n%s, want\n%s", name, c.slow, c.from, c.to, got, c.subtitles)
			}
			got = program(t, "ffprobe", "-v", "error", "-show_chapters", "-show_entries", "chapter=start_time,end_time:chapter_tags=title", "-of", "csv=p=0", o.Output)
			if got := spaced(got); got != c.chapters {
				t.Errorf("%s %d times slower from %v to %v: chapters\n%s, want\n%s", name, c.slow, c.from, c.to, got, c.chapters)
			}
			got = program(t, "ffprobe", "-v", "error", "-select_streams", "s", "-show_entries", "stream_tags=language", "-of", "csv=p=0", o.Output)
			if spaced(got) != "deu" {
				t.Errorf("%s: the subtitles' language is %q", name, got)
			}
		}
	}
}

// spaced puts lines on one.
func spaced(lines string) string { return strings.Join(strings.Fields(lines), " ") }

// texts leaves out the empty texts that fill the gaps in MP4, of 2 bytes.
func texts(lines string) string {
	var kept []string
	for _, l := range strings.Fields(lines) {
		if f := strings.Split(l, ","); len(f) > 2 && f[2] != "2" {
			kept = append(kept, f[0]+","+f[1])
		}
	}
	return strings.Join(kept, " ")
}
