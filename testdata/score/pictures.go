package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// fault is a place where made frames looked wrong, for docs/quality.md.
type fault struct {
	name   string // of the picture
	clip   string // beginning of the clip's name
	frame  int    // of the clip, from 0; odd
	crop   string // width:height:x:y in pixels
	zoom   int
	preset string
}

// faults are known faults of release 0.1.0.
var faults = []fault{
	{"ball", "d03", 13, "160:300:710:335", 2, "balanced"},
	{"shoe", "d03", 11, "140:180:740:500", 2, "balanced"},
	{"street", "d08", 17, "320:130:310:140", 1, "best"},
	{"hand", "d04", 13, "160:140:50:110", 2, "balanced"},
	{"shelf", "d04", 13, "180:110:230:120", 2, "balanced"},
	{"wing", "d06", 55, "320:320:870:340", 1, "balanced"},
	{"windows", "d07", 27, "180:180:900:680", 2, "best"},
	{"glass", "d07", 27, "320:320:530:620", 1, "best"},
}

// pictures writes a picture of each fault to the directory out. Side by side, it shows the truth,
// then what the older program, the program and minterpolate made. clips is the clips' directory.
func (s *score) pictures(clips, out string) error {
	var t *truth
	var shown []string
	for i, f := range faults {
		if i == 0 || !f.sameFrame(faults[i-1]) {
			var err error
			if t, shown, err = s.makeAround(f, clips); err != nil {
				return err
			}
		}
		if err := t.beside(shown, f, filepath.Join(out, f.name+".webp")); err != nil {
			return err
		}
	}
	return nil
}

// sameFrame reports whether f and g are places in the same made frame.
func (f fault) sameFrame(g fault) bool {
	return f.clip == g.clip && f.frame == g.frame && f.preset == g.preset
}

// makeAround has the programs make the frames around a fault. It returns the truth and the files to
// show: the truth's, then each program's.
func (s *score) makeAround(f fault, clips string) (t *truth, shown []string, err error) {
	if t, err = s.around(f, clips); err != nil {
		return nil, nil, err
	}
	shown = []string{t.all}
	for _, program := range []string{s.before, s.program} {
		made := filepath.Join(s.scratch, fmt.Sprint("made", len(shown), ".nut"))
		if _, err := retime(program, "retime --preset "+f.preset, t.even, made, t.rate.String()); err != nil {
			return nil, nil, err
		}
		shown = append(shown, made)
	}
	made := filepath.Join(s.scratch, "peer.nut")
	args := t.raw("settb="+t.tick()+","+filter("minterpolate", t.rate.String()), made)
	if _, err := ffmpeg(append([]string{"-i", t.even, "-pix_fmt", t.format}, args...)...); err != nil {
		return nil, nil, err
	}
	return t, append(shown, made), nil
}

// reach is how many frames on either side of a made one it depends on: up to the second source
// frame on each side.
const reach = 3

// around writes the part of a fault's clip that its frame depends on, as frames 0 to 2*reach of a
// truth.
func (s *score) around(f fault, clips string) (*truth, error) {
	names, err := filepath.Glob(filepath.Join(clips, f.clip+"*"))
	if err != nil || len(names) != 1 {
		return nil, fmt.Errorf("%s: %d clips of the name %s", clips, len(names), f.clip)
	}
	shown, err := probe(names[0], "-show_entries", "stream=pix_fmt,avg_frame_rate")
	if err != nil {
		return nil, err
	}
	t := &truth{
		name: f.name, format: shown[0], n: 2*reach + 1,
		all: filepath.Join(s.scratch, "all.nut"), even: filepath.Join(s.scratch, "even.nut"),
	}
	if t.rate, err = nearestRate(shown[1]); err != nil {
		return nil, err
	}
	part := fmt.Sprintf("trim=start_frame=%d:end_frame=%d,settb=%s,setpts=N", f.frame-reach, f.frame+reach+1, t.tick())
	if _, err := ffmpeg(append([]string{"-i", names[0], "-map", "0:v:0"}, t.raw(part, t.all)...)...); err != nil {
		return nil, err
	}
	_, err = ffmpeg(append([]string{"-i", t.all}, t.raw("select='not(mod(n,2))',tpad=stop=3:stop_mode=clone,settb="+t.tick()+",setpts=2*N", t.even)...)...)
	return t, err
}

// beside crops a fault's place from the middle frame of each video and puts the crops side by side.
func (t *truth) beside(videos []string, f fault, name string) error {
	args := []string{"-v", "error", "-nostdin", "-y"}
	graph, ends := "", ""
	for i, video := range videos {
		args = append(args, "-i", video)
		graph += fmt.Sprintf("[%d:v]settb=%s,select='eq(pts,%d)',crop=%s,scale=iw*%d:-1:flags=neighbor,format=rgb24", i, t.tick(), reach, f.crop, f.zoom)
		if i > 0 {
			graph += ",pad=iw+6:ih:6:0:white"
		}
		graph += fmt.Sprintf(",setpts=0[p%d];", i)
		ends += fmt.Sprintf("[p%d]", i)
	}
	graph += ends + fmt.Sprintf("hstack=%d", len(videos))
	args = append(args, "-filter_complex", graph, "-frames:v", "1", "-c:v", "libwebp", "-quality", "80", name)
	cmd := exec.Command("ffmpeg", args...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}
