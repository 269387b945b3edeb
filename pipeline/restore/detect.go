package restore

import (
	"cmp"
	"slices"

	"retime/frame"
)

// detector finds damage in frames that come in order.
type detector struct {
	limit   int // frames in a row at most
	workers frame.Workers
	window  []numbered // the last frames that are not spoilt, and those not yet judged
	moved   distance   // from the frame before the window to its first
	last    frame.Image[uint8]
	changes []float32       // mean difference of each frame to the one before, in grey levels
	flat    []bool          // pictures that show nothing, and so no motion
	verdict map[int]Finding // of single frames
	jumps   *jumps
	// likeness of the first frames and of the last ones
	head, tail []*likeness
}

type numbered struct {
	number int
	*likeness
}

func newDetector(o *Options) (*detector, error) {
	j, err := newJumps()
	if err != nil {
		return nil, err
	}
	return &detector{limit: o.MaxRun, workers: frame.Workers{N: o.Convert.Compute.Threads}, verdict: map[int]Finding{}, jumps: j}, nil
}

func (d *detector) close() { d.jumps.close() }

// add takes the next frame.
func (d *detector) add(f *frame.Frame) error {
	now := luma(f)
	change := float32(0)
	if len(d.changes) > 0 {
		change = float32(difference(d.workers, d.last, now))
	}
	if f.Damaged {
		d.verdict[len(d.changes)] = Finding{Kind: DecodeError, Score: 1}
	}
	l := newLikeness(f, now)
	d.window = append(d.window, numbered{len(d.changes), l})
	d.flat = append(d.flat, l.flat())
	d.changes, d.last = append(d.changes, change), now
	if len(d.window) == d.limit+2 {
		d.look()
	}
	if len(d.head) < endFrames {
		d.head = append(d.head, l)
	}
	if d.tail = append(d.tail, l); len(d.tail) > endFrames {
		d.tail = d.tail[1:]
	}
	return d.jumps.add(now)
}

// look looks for a run of spoilt frames behind the first of the window, the
// shortest that has frames before and behind it which are alike, and takes it out;
// where there is none it moves on.
func (d *detector) look() {
	for n := 2; n < len(d.window); n++ {
		if d.spoils(n) {
			d.window = slices.Delete(d.window, 1, n)
			return
		}
	}
	d.moved = *distances(d.window[0].small, d.window[1].small)
	d.window = slices.Delete(d.window, 0, 1)
}

// spoils notes the frames of the window between the first and the n-th if they are
// spoilt.
func (d *detector) spoils(n int) bool {
	before, after := d.window[0].likeness, d.window[n].likeness
	var scores []float64
	for _, f := range d.window[1:n] {
		s := strays(before, f.likeness, after, &d.moved)
		if s < spoilt*float64(n)/2 { // longer runs need better proof
			return false
		}
		scores = append(scores, s)
	}
	for i, s := range scores {
		f := d.window[1+i]
		if d.verdict[f.number].Kind == "" {
			d.verdict[f.number] = Finding{Kind: f.kind(before), Score: s}
		}
	}
	return true
}

// finish returns what was found, in order: runs of frames with the same damage, gaps
// between the timestamps, and jumps in motion.
func (d *detector) finish(stamps []int64) []Finding {
	for len(d.window) > 2 {
		d.look()
	}
	d.ends()
	d.repeats()
	var found []Finding
	for n := range d.changes {
		f := d.verdict[n]
		if f.Kind == "" {
			continue
		}
		f.First, f.Last = Place{Number: int64(n)}, Place{Number: int64(n)}
		if k := len(found) - 1; k >= 0 && found[k].Kind == f.Kind && found[k].Last.Number == int64(n)-1 {
			found[k].Last, found[k].Score = f.Last, min(found[k].Score, f.Score)
			continue
		}
		found = append(found, f)
	}
	found = slices.Concat(found, gaps(stamps), d.jumped(stamps))
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.First.Number, b.First.Number) })
	return found
}

// At the clip's ends a frame has sound ones on one side only: it is spoilt where part
// of it fits neither of the next two although those fit each other. What differs all
// over is taken for another scene's, and what is flat for a fade or a leader.
const (
	endFrames = 4
	endSpoilt = 0.15 // of the cells
	anotherAt = 0.8  // likewise
)

// ends notes the first and the last frame if they are spoilt.
func (d *detector) ends() {
	last := len(d.changes) - 1
	if last < 2*endFrames {
		return
	}
	slices.Reverse(d.tail)
	d.end(0, d.head)
	d.end(last, d.tail)
}

// end looks at frame n, an end, which is the first of those given.
func (d *detector) end(n int, f []*likeness) {
	if d.spoiltNear(n, endFrames-1) {
		return
	}
	share := strays(f[1], f[0], f[2], distances(f[2].small, f[3].small))
	if k := f[0].kind(f[1]); share >= endSpoilt && share < anotherAt && (k == Garbled || k == Flash) {
		d.verdict[n] = Finding{Kind: k, Score: share}
	}
}

// spoiltNear says whether a frame at most reach from n is spoilt or repeated.
func (d *detector) spoiltNear(n, reach int) bool {
	for i := n - reach; i <= n+reach; i++ {
		if k := d.verdict[i].Kind; k != "" && k != DecodeError {
			return true
		}
	}
	return false
}

// jumped are the jumps in motion that neither damage nor the timestamps explain, nor a
// cadence: some conversions leave out every n-th frame.
func (d *detector) jumped(stamps []int64) []Finding {
	var found []Finding
	runs := make([][2]int, len(d.jumps.found))
	for i, j := range d.jumps.found {
		runs[i] = [2]int{j.number, j.number + 1}
	}
	for i, j := range d.jumps.found {
		if d.spoiltNear(j.number, jumpWindow/2+1) || !evenly(stamps, j.number) || inCadence(runs, i, len(stamps)) {
			continue
		}
		p := Place{Number: int64(j.number - 1)}
		found = append(found, Finding{First: p, Last: p, Kind: Jump, Score: j.score, Missing: j.missing})
	}
	return found
}

// evenly says whether the frames of a jump's window before frame n last equally long.
func evenly(stamps []int64, n int) bool {
	step := stamps[n] - stamps[n-1]
	for i := max(n-jumpWindow/2, 1); i <= min(n+jumpWindow/2, len(stamps)-1); i++ {
		if d := stamps[i] - stamps[i-1] - step; 4*max(d, -d) > step {
			return false
		}
	}
	return true
}

// Frames repeat the one before in the midst of motion where they change by much
// less than what frames around them do, where those change by at least moving grey
// levels, and where the motion that was missed shows behind them. Where coding noise
// blurs the first, motion must stop all at once and the last be plain.
const (
	nearby       = 24   // frames on either side count
	moving       = 0.2  // grey levels
	barely       = 0.05 // of the usual change
	still        = 0.2  // likewise
	goingOn      = 0.7  // of the usual change, at least
	nearlyStill  = 0.4  // of the usual change
	stopping     = 0.5  // of the change before
	plainlyAhead = 1.2  // of the usual change, at least
)

// repeats notes repeated frames.
func (d *detector) repeats() {
	var runs [][2]int // first and behind the last
	for n := 1; n < len(d.changes); {
		next := n + 1
		for _, share := range []float32{barely, still, nearlyStill} { // slow motion may precede repeats
			end := n
			for end < len(d.changes) && d.stands(end, share) {
				end++
			}
			whole := n == 1 || !d.stands(n-1, share)
			if whole && end > n && end-n <= d.limit && end < len(d.changes) && d.missed(n, end) {
				runs = append(runs, [2]int{n, end})
				next = end
				break
			}
		}
		n = next
	}
	for k, r := range runs {
		if inCadence(runs, k, len(d.changes)) {
			continue
		}
		for n := r[0]; n < r[1]; n++ {
			d.verdict[n] = Finding{Kind: Repeated, Score: 1 - float64(d.changes[n]/d.usual(n))}
		}
	}
}

// stands says whether frame n changes by less than a share of the usual.
func (d *detector) stands(n int, share float32) bool {
	usual := d.usual(n)
	return !d.flat[n] && !d.spoiltAt(n) && !d.spoiltAt(n-1) && usual >= moving && d.changes[n] < share*usual
}

// missed says whether the frames from n to before end, which stand, lack motion
// that was there.
func (d *detector) missed(n, end int) bool {
	usual, most := d.usual(n), slices.Max(d.changes[n:end])
	if d.spoiltAt(end) {
		return most < still*usual
	}
	ahead := usual
	if n > 1 && most < barely*usual {
		ahead = min(usual, d.changes[n-1])
	}
	if most < still*usual && d.changes[end] >= goingOn*ahead {
		return true
	}
	stops := n > 1 && !d.spoiltAt(n-2) && d.changes[n] <= stopping*d.changes[n-1]
	return stops && d.changes[end] >= plainlyAhead*usual
}

func (d *detector) spoiltAt(n int) bool {
	k := d.verdict[n].Kind
	return k != "" && k != DecodeError && k != Repeated
}

// usual is how much frames around n change: what three in ten exceed, so that
// neither repeats nor cuts count.
func (d *detector) usual(n int) float32 {
	var near [2*nearby + 1]float32
	k := 0
	for i := max(n-nearby, 1); i <= min(n+nearby, len(d.changes)-1); i++ {
		if !d.spoiltAt(i) && !d.spoiltAt(i-1) {
			near[k] = d.changes[i]
			k++
		}
	}
	if k == 0 {
		return 0
	}
	slices.Sort(near[:k])
	return near[k*7/10]
}

// Animation is drawn on twos or threes, and some conversions repeat every n-th
// frame: repeats are as they should be where they come at equal distances of at
// most maxCadence frames, cadence times in a row, or make up more than a third of
// the frames.
const (
	maxCadence = 30
	cadence    = 3
)

// inCadence says whether run k, in a clip of count frames, is one of those.
func inCadence(runs [][2]int, k, count int) bool {
	for i := max(k-cadence, 0); i <= k && i+cadence < len(runs); i++ {
		step := runs[i+1][0] - runs[i][0]
		even := step <= maxCadence
		for j := i + 1; even && j < i+cadence; j++ {
			even = runs[j+1][0]-runs[j][0] == step
		}
		if even {
			return true
		}
	}
	from, to := max(runs[k][0]-nearby, 0), min(runs[k][0]+nearby, count)
	repeats := 0
	for _, r := range runs {
		if r[0] >= from && r[0] < to {
			repeats += r[1] - r[0]
		}
	}
	return 3*repeats > to-from
}

// Timestamps have a gap where a frame lasts longer than the usual one by half, or
// where the rate varies, four times as long.
const (
	gapSteps     = 1.5
	gapVariable  = 4.0
	variableFrom = 0.2 // share of frames that last longer
)

// gaps finds where frames are missing by their timestamps.
func gaps(stamps []int64) []Finding {
	if len(stamps) < 3 {
		return nil
	}
	steps := make([]int64, len(stamps)-1)
	for i := range steps {
		steps[i] = stamps[i+1] - stamps[i]
	}
	sorted := slices.Clone(steps)
	slices.Sort(sorted)
	usual := float64(sorted[len(sorted)/2])
	long := 0
	for _, s := range steps {
		if float64(s) > gapSteps*usual {
			long++
		}
	}
	limit := gapSteps
	if float64(long) > variableFrom*float64(len(steps)) {
		limit = gapVariable
	}
	var found []Finding
	for i, s := range steps {
		if float64(s) <= limit*usual {
			continue
		}
		p := Place{Number: int64(i)}
		missing := int(min(float64(s)/usual+0.5, maxInsert)) - 1
		found = append(found, Finding{First: p, Last: p, Kind: Gap, Score: 1, Insert: max(missing, 1)})
	}
	return found
}
