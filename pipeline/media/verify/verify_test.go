package verify

import (
	"context"
	"errors"
	"math/big"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"
)

// clip makes a file and returns its URL and its contents as Check reads them.
func clip(t *testing.T, name string, args ...string) (url string, f *File) {
	t.Helper()
	url = filepath.Join(t.TempDir(), name)
	args = append([]string{"-v", "error", "-f", "lavfi", "-i", "testsrc2=s=32x16:r=25", "-f", "lavfi", "-i", "sine=r=48000", "-t", "1"}, append(args, url)...)
	if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := astiav.AllocFormatContext()
	if err := file.OpenInput(url, nil, nil); err != nil {
		t.Fatal(err)
	}
	defer file.CloseInput()
	if err := file.FindStreamInfo(nil); err != nil {
		t.Fatal(err)
	}
	found := streamsOf(file)
	video := (&File{Streams: []Stream{{Kind: astiav.MediaTypeVideo}}}).in(found, 0)
	if err := read(t.Context(), file, found, video); err != nil {
		t.Fatal(err)
	}
	f = &File{Frames: 25, Rate: big.NewRat(25, 1), Timed: true}
	for i, s := range found {
		if s == video {
			f.Video = i
		}
		f.Streams = append(f.Streams, *s)
	}
	return url, f
}

func TestCheck(t *testing.T) {
	for _, kind := range [][]string{
		{"a.mkv", "-c:v", "ffv1", "-c:a", "flac"},
		{"b.mov", "-c:v", "mjpeg", "-c:a", "pcm_s16le"},
	} {
		for _, c := range []struct {
			want   string // part of the error; empty if Check succeeds
			tamper func(f *File, video, sound *Record)
		}{
			{"", func(*File, *Record, *Record) {}},
			{"frames were encoded", func(f *File, _, _ *Record) { f.Frames++ }},
			{"pictures, ", func(f *File, v, _ *Record) { v.Packets++ }},
			{"behind the first, not", func(f *File, _, _ *Record) { f.Rate = big.NewRat(24, 1) }},
			{"", func(f *File, _, _ *Record) { f.Rate, f.Timed = big.NewRat(24, 1), false }},
			{"behind the first, not", func(f *File, v, _ *Record) {
				f.Rate = nil
				v.PTS[7] += 5 * int64(f.Streams[f.Video].TimeBase.Den()) / 1000
			}},
			{" were written", func(f *File, _, s *Record) { s.Packets++; s.Bytes++ }},
			{"", func(f *File, _, s *Record) { s.Packets++; s.Bytes++; f.Damaged = true }},
			{"begins", func(f *File, _, s *Record) { s.First = new(big.Rat).Add(s.First, big.NewRat(3, 1000)) }},
			{"", func(f *File, _, s *Record) {
				s.First, f.Slack = new(big.Rat).Add(s.First, big.NewRat(1, 1000)), big.NewRat(1, 100)
			}},
			{"is not in it", func(f *File, _, _ *Record) {
				f.Streams = append(f.Streams, Stream{Kind: astiav.MediaTypeAudio, TimeBase: astiav.NewRational(1, 1000), Record: Record{Packets: 1}})
			}},
			{"subtitles of stream 2 are not in it", func(f *File, _, _ *Record) {
				f.Streams = append(f.Streams, Stream{Kind: astiav.MediaTypeSubtitle, Record: Record{Packets: 1}})
			}},
			{"", func(f *File, _, _ *Record) { // of sound without packets, MOV has no stream
				silent := Stream{Kind: astiav.MediaTypeAudio, TimeBase: astiav.NewRational(1, 1000)}
				f.Streams = append(append([]Stream{silent}, f.Streams...), silent)
				f.Video++
			}},
		} {
			url, f := clip(t, kind[0], kind[1:]...)
			c.tamper(f, &f.Streams[f.Video].Record, &f.Streams[1-f.Video].Record)
			err := f.Check(t.Context(), url)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", kind[0], err, c.want)
			}
		}
	}
}

func TestCheckOfNoFile(t *testing.T) {
	url, f := clip(t, "a.mkv", "-c:v", "ffv1")
	if err := f.Check(t.Context(), url+".none"); err == nil || !strings.Contains(err.Error(), "opened") {
		t.Errorf("a file that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Check(ctx, url); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled check: %v", err)
	}
	url, _ = clip(t, "a.mka", "-map", "1:a")
	if err := f.Check(t.Context(), url); err == nil || !strings.Contains(err.Error(), "video is not in it") {
		t.Errorf("a file of sound: %v", err)
	}
}
