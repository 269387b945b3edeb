package restoration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore"
	"retime/pipeline/restore/fields"
)

// score counts the damage of one sort, drawn and found.
type score struct {
	drawn, found   [strengths]int
	named          int // of those found, by the sort's own name
	claimed, right int // findings by its name, and those in damaged frames
}

// tally is the result over all clips.
type tally struct {
	scores map[string]*score
	clean  map[string]*alarms
	busy   time.Duration // in detection
	length float64       // in seconds, of what was looked through
}

// alarms counts findings in sound clips.
type alarms struct {
	found   int
	whole   int // of those found, damage to whole pictures
	seconds float64
}

func newTally(sorts []sort) *tally {
	t := &tally{scores: map[string]*score{}, clean: map[string]*alarms{}}
	for _, s := range sorts {
		t.scores[s.name] = &score{}
	}
	return t
}

// kindName returns the name of a kind in the table.
func kindName(k restore.Kind) string {
	switch k {
	case restore.Repeated:
		return "repeat"
	case restore.White:
		return "black"
	}
	return string(k)
}

// catalogue draws damage of each sort into the clips, progressive and woven, and prints how much of it is found,
// and what is found in sound clips.
func (s *study) catalogue(ctx context.Context, clips []string) error {
	for _, woven := range []bool{false, true} {
		t := newTally(s.sorts())
		for i, clip := range clips {
			name, err := s.base(ctx, clip, i, woven, "")
			if err != nil {
				return fmt.Errorf("%s: %w", clip, err)
			}
			for round := range s.Rounds {
				if err := s.drawn(ctx, t, name, woven, s.Seed+uint64(100*round+i)); err != nil {
					return fmt.Errorf("%s: %w", clip, err)
				}
			}
			for _, c := range conditions {
				if err := s.sound(ctx, t, clip, name, i, woven, &c); err != nil {
					return fmt.Errorf("%s: %w", clip, err)
				}
			}
		}
		t.print(s, woven)
	}
	return nil
}

func (t *tally) print(s *study, woven bool) {
	s.printf("\n%s\n\n| kind | drawn | recall | weak / middle / strong | named so | precision |\n|---|---|---|---|---|---|\n", map[bool]string{false: "progressive", true: "fields"}[woven])
	for _, sort := range s.sorts() {
		c := t.scores[sort.name]
		drawn, found, by := 0, 0, ""
		for k := range strengths {
			drawn, found = drawn+c.drawn[k], found+c.found[k]
			by += fmt.Sprintf(" / %.2f", float64(c.found[k])/float64(max(c.drawn[k], 1)))
		}
		s.printf("| %s | %d | %.3f | %s | %.2f | %.3f (%d) |\n", sort.name, drawn, float64(found)/float64(max(drawn, 1)), by[3:],
			float64(c.named)/float64(max(found, 1)), float64(c.right)/float64(max(c.claimed, 1)), c.claimed)
	}
	s.printf("\n| sound | seconds | findings | in two minutes | of them whole pictures |\n|---|---|---|---|---|\n")
	for _, c := range conditions {
		a := t.clean[c.name]
		s.printf("| %s | %.0f | %d | %.1f | %d |\n", c.name, a.seconds, a.found, float64(a.found)*120/a.seconds, a.whole)
	}
	s.printf("\n%.1f times real time\n", t.length/t.busy.Seconds())
}

// base writes the clip without losses in the size of the study, woven or not, and through a filter.
func (s *study) base(ctx context.Context, clip string, i int, woven bool, filter string) (string, error) {
	name := filepath.Join(s.Keep, fmt.Sprintf("%s.%v.%d.mkv", baseName(clip), woven, len(filter)))
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	graph := fmt.Sprintf("scale='min(iw,%d)':-2:flags=area", s.Width)
	if woven {
		k := systems[i%len(systems)]
		graph = fmt.Sprintf("scale=%d:%d:flags=bicubic", k.width, k.height)
		if filter != "" {
			filter = "," + filter
		}
		graph += filter + fmt.Sprintf(",format=yuv420p,settb=AVTB,setpts=N/(%s*TB),fps=%[1]s,tinterlace=mode=%[2]s,setfield=%[3]s", k.rate, k.weave, k.order)
	} else if filter != "" {
		graph += "," + filter
	}
	return name, ffmpeg(ctx, "-i", clip, "-an", "-vf", graph, "-c:v", "ffv1", "-slices", "4", name)
}

// Damage is drawn at every drawnEvery-th frame, so that sound frames are in the majority, and not near the ends.
const (
	drawnEvery = 8
	drawnFrom  = 5
)

// damageDrawn is one entry of what was drawn.
type damageDrawn struct {
	sort     *sort
	strength int
	field    fields.Set
}

// drawn draws damage of random sorts into a clip, and counts what is found.
func (s *study) drawn(ctx context.Context, t *tally, name string, woven bool, seed uint64) error {
	random := rand.New(rand.NewPCG(s.Seed, seed))
	truth := map[int64]damageDrawn{}
	sorts := s.sorts()
	if len(sorts) == 0 {
		return fault.New(fault.Usage, "none of the kinds is drawn")
	}
	order := random.Perm(len(sorts) * strengths)
	spoilt := filepath.Join(s.work, "spoilt.mkv")
	length, err := s.rewrite(ctx, name, spoilt, func(n, count int, f, last *frame.Frame) {
		if n%drawnEvery != drawnFrom || n > count-drawnFrom {
			return
		}
		k := order[n/drawnEvery%len(order)]
		d := damageDrawn{&sorts[k%len(sorts)], k / len(sorts), fields.Both}
		if woven && (!d.sort.whole || random.IntN(2) == 0) {
			d.field = []fields.Set{fields.Top, fields.Bottom}[random.IntN(2)]
		}
		for _, field := range []fields.Set{fields.Top, fields.Bottom} {
			to, from := f, last
			if woven {
				to, from = fields.View(f, field), fields.View(last, field)
			}
			if d.field&field == 0 || !woven && field == fields.Bottom {
				continue
			}
			if drawSeen(random, to, from, d) {
				truth[int64(n)] = d
			}
		}
	})
	if err != nil {
		return err
	}
	found, err := s.detect(ctx, t, spoilt, length)
	if err != nil {
		return err
	}
	t.count(truth, found, func(format string, args ...any) {
		s.note("%s: "+format, append([]any{filepath.Base(name)}, args...)...)
	})
	return nil
}

// count counts what was drawn into the frames of a clip and what was found there, and notes what was missed or found by mistake.
func (t *tally) count(truth map[int64]damageDrawn, found []restore.Finding, note func(format string, args ...any)) {
	met := map[int64]string{}
	for _, f := range found {
		kind, right := kindName(f.Kind), false
		for n := f.First.Number; n <= f.Last.Number; n++ {
			if _, is := truth[n]; is {
				right = true
				if met[n] == "" || kind == truth[n].sort.name {
					met[n] = kind
				}
			}
		}
		if c := t.scores[kind]; c != nil {
			c.claimed++
			if right {
				c.right++
			}
		}
		if !right {
			note("found by mistake: %v", f)
		}
	}
	for n, d := range truth {
		c := t.scores[d.sort.name]
		c.drawn[d.strength]++
		if met[n] == "" {
			note("missed: %d %s %d", n, d.sort.name, d.strength)
			continue
		}
		c.found[d.strength]++
		if met[n] == d.sort.name {
			c.named++
		}
	}
}

// drawSeen draws damage into a picture, a repeat from the one before, and reports whether it has. It does not if damage to the whole would
// not be seen: black in black, or a repeat where nothing moves.
func drawSeen(random *rand.Rand, to, before *frame.Frame, d damageDrawn) bool {
	was := frame.New(to.Format, to.Width, to.Height)
	frame.Copy(was, to)
	repeat := d.sort.name == "repeat"
	if repeat {
		frame.Copy(to, before)
	} else {
		draw(random, to, d.sort, d.strength)
	}
	if d.sort.whole && !differs(was, to) {
		frame.Copy(to, was)
		return false
	}
	if repeat { // its own noise makes none seen
		draw(random, to, d.sort, d.strength)
	}
	return true
}

// rewrite copies a clip without losses and lets change draw into each frame; it returns the length in seconds.
func (s *study) rewrite(ctx context.Context, from, to string, change func(n, count int, f, last *frame.Frame)) (float64, error) {
	count := 0
	if err := each(ctx, from, func(*frame.Frame) error { count++; return nil }); err != nil {
		return 0, err
	}
	r, err := media.Open(ctx, from, media.ReaderOptions{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	w, err := create(ctx, to, r)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	var last *frame.Frame
	n := 0
	err = frames(r, func(f *frame.Frame) error {
		put, err := w.NewFrame(f)
		if err != nil {
			return err
		}
		frame.Copy(put, f)
		if last == nil {
			last = put.Retain()
		}
		change(n, count, put, last)
		last.Release()
		last = put
		n++
		return w.WriteFrame(put, nil, nil)
	})
	if last != nil {
		last.Release()
	}
	if err != nil {
		return 0, err
	}
	_, err = w.Finish(false)
	rate, _ := r.Video().Rate.Float64()
	return float64(count) / rate, err
}

func (s *study) detect(ctx context.Context, t *tally, name string, length float64) ([]restore.Finding, error) {
	begin := time.Now()
	report, err := restore.Run(ctx, restore.Options{Detect: true, Find: s.find, DryRun: true, Convert: pipeline.Options{Input: pipeline.Input{File: name}, Compute: pipeline.Compute{Backend: pipeline.CPU}}})
	if err != nil {
		return nil, err
	}
	t.busy, t.length = t.busy+time.Since(begin), t.length+length
	return report.Findings, nil
}
