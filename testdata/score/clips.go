package main

import (
	"fmt"
	"io"
	"log"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// truth is the part of a clip that is measured on: raw frames 0 to n-1 at a constant rate, whatever
// the clip's timestamps are. n is odd, so that every odd frame is between two even ones.
type truth struct {
	name, format string
	rate         *big.Rat
	n            int
	all          string // file of all frames
	even         string // file of the even frames at their times, and clones of the last
}

// raw returns the ffmpeg options that write frames with timestamps in units of 1/rate.
func (t *truth) raw(filter, name string) []string {
	return []string{"-vf", filter, "-fps_mode", "passthrough", "-enc_time_base", t.tick(), "-c:v", "rawvideo", "-f", "nut", name}
}

// tick is the duration of a frame, in seconds, as ffmpeg writes fractions.
func (t *truth) tick() string { return new(big.Rat).Inv(t.rate).String() }

// result is what a peer made of a clip. PSNR is in dB, over the luma of all odd frames.
type result struct {
	psnr, ssim float64
	even       float64 // PSNR of the even frames, which should come back unchanged: +Inf
	frames     int     // different output times in the range of the truth
	effort     effort
}

// clips measures every video in a directory and prints a table.
func (s *score) clips(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	fmt.Println("| clip | peer | PSNR | SSIM | even frames | frames | s per made frame | CPU s |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	sums, count := map[string]result{}, map[string]int{}
	for _, e := range entries {
		if !regexp.MustCompile(`\.(mp4|mkv|webm|mov|avi)$`).MatchString(e.Name()) {
			continue
		}
		t, err := s.prepare(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		for _, peer := range s.peers {
			r, err := s.measure(t, peer)
			if err != nil {
				log.Printf("%s: %s: %v", t.name, peer, err)
				continue
			}
			even := "exact"
			if !math.IsInf(r.even, 1) {
				even = fmt.Sprintf("%.1f dB", r.even)
			}
			made := float64(t.n / 2)
			fmt.Printf("| %s | %s | %.2f | %.4f | %s | %d of %d | %.3f | %.3f |\n", t.name, peer, r.psnr, r.ssim, even, r.frames, t.n,
				r.effort.wall.Seconds()/made, r.effort.cpu.Seconds()/made)
			sum := sums[peer]
			sums[peer] = result{psnr: sum.psnr + r.psnr, ssim: sum.ssim + r.ssim}
			count[peer]++
		}
	}
	for _, peer := range s.peers {
		if n := float64(count[peer]); n > 0 {
			fmt.Printf("| **mean of %d** | %s | %.2f | %.4f | | | | |\n", count[peer], peer, sums[peer].psnr/n, sums[peer].ssim/n)
		}
	}
	return nil
}

// prepare writes the truth of a clip.
func (s *score) prepare(clip string) (*truth, error) {
	shown, err := probe(clip, "-show_entries", "stream=pix_fmt,avg_frame_rate")
	if err != nil {
		return nil, err
	}
	if len(shown) != 2 {
		return nil, fmt.Errorf("%s: no video stream", clip)
	}
	t := &truth{name: strings.TrimSuffix(filepath.Base(clip), filepath.Ext(clip)), format: strings.Replace(shown[0], "yuvj", "yuv", 1)}
	if t.rate, err = nearestRate(shown[1]); err != nil {
		return nil, fmt.Errorf("%s: %w", clip, err)
	}
	decoded := filepath.Join(s.scratch, "decoded.nut")
	args := append([]string{"-i", clip, "-map", "0:v:0", "-frames:v", strconv.Itoa(s.frames)}, t.raw("settb="+t.tick()+",setpts=N", decoded)...)
	if _, err := ffmpeg(args...); err != nil {
		return nil, err
	}
	packets, err := probe(decoded, "-show_entries", "packet=pts")
	if err != nil {
		return nil, err
	}
	t.n = len(packets) - 1 + len(packets)%2
	if t.n < 5 {
		return nil, fmt.Errorf("%s: %d frames are too few", clip, len(packets))
	}
	dir := s.scratch
	if s.keep != "" {
		dir = s.keep
	}
	t.all, t.even = filepath.Join(dir, t.name+".nut"), filepath.Join(s.scratch, "even.nut")
	if _, err := ffmpeg(append([]string{"-i", decoded}, t.raw(fmt.Sprintf("trim=end_frame=%d,settb=%s,setpts=N", t.n, t.tick()), t.all)...)...); err != nil {
		return nil, err
	}
	// minterpolate looks a frame ahead and loses the end of a clip, hence the clones.
	_, err = ffmpeg(append([]string{"-i", t.all}, t.raw("select='not(mod(n,2))',tpad=stop=3:stop_mode=clone,settb="+t.tick()+",setpts=2*N", t.even)...)...)
	return t, err
}

// measure has a peer make the odd frames, and compares all frames of its output.
func (s *score) measure(t *truth, peer string) (r result, err error) {
	made := filepath.Join(s.scratch, "made.nut")
	if s.keep != "" {
		made = filepath.Join(s.keep, t.name+" "+strings.NewReplacer("/", "", ":", " ").Replace(peer)+".nut")
	}
	if isRetime(peer) {
		r.effort, err = s.retime(peer, t.even, made, t.rate.String())
	} else {
		args := t.raw("settb="+t.tick()+","+filter(peer, t.rate.String()), made)
		r.effort, err = ffmpeg(append([]string{"-i", t.even, "-pix_fmt", t.format}, args...)...)
	}
	if err != nil {
		return r, err
	}
	if r.frames, err = t.present(made); err != nil {
		return r, err
	}
	if r.psnr, r.ssim, err = t.compare(made, "mod(pts,2)"); err != nil {
		return r, err
	}
	r.even, _, err = t.compare(made, "not(mod(pts,2))")
	return r, err
}

// present counts the truth's frames whose time a frame of the file has.
func (t *truth) present(name string) (int, error) {
	times, err := probe(name, "-show_entries", "packet=pts_time")
	if err != nil {
		return 0, err
	}
	rate, _ := t.rate.Float64()
	seen := map[int]bool{}
	for _, at := range times {
		seconds, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if k := int(math.Round(seconds * rate)); k >= 0 && k < t.n {
			seen[k] = true
		}
	}
	return len(seen), nil
}

var (
	lumaPSNR = regexp.MustCompile(`PSNR y:([0-9.]+|inf)`)
	lumaSSIM = regexp.MustCompile(`SSIM Y:([0-9.]+)`)
)

// compare returns the PSNR and the SSIM of the luma of the frames that a select expression chooses
// by their time, in units of 1/rate. It pairs frames by time, whatever their order in the file.
func (t *truth) compare(name, which string) (psnr, ssim float64, err error) {
	chosen := fmt.Sprintf("settb=%s,select='%s',select='lt(pts,%d)',settb=1/25,setpts=N", t.tick(), which, t.n)
	cmd := exec.Command("ffmpeg", "-nostdin", "-i", name, "-i", t.all, "-filter_complex",
		"[0:v]"+chosen+",split[a][b];[1:v]"+chosen+",split[c][d];[a][c]psnr[x];[b][d]ssim[y];[x]nullsink;[y]null", "-an", "-f", "null", "-")
	cmd.Stdout = io.Discard
	log, err := cmd.StderrPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	said, _ := io.ReadAll(log)
	if err := cmd.Wait(); err != nil {
		return 0, 0, fmt.Errorf("compare %s: %w\n%s", name, err, said)
	}
	p, q := lumaPSNR.FindSubmatch(said), lumaSSIM.FindSubmatch(said)
	if p == nil || q == nil {
		return 0, 0, fmt.Errorf("compare %s: ffmpeg printed no figures", name)
	}
	if psnr, err = strconv.ParseFloat(string(p[1]), 64); err != nil {
		return 0, 0, err
	}
	ssim, err = strconv.ParseFloat(string(q[1]), 64)
	return psnr, ssim, err
}
