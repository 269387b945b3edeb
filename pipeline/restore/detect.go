package restore

import (
	"cmp"
	"image"
	"math"
	"slices"

	"retime/frame"
	"retime/pipeline/restore/parts"
	"retime/warp"
)

// detector finds damage in frames that come in order.
type detector struct {
	limit   int // the most spoilt frames in a row
	workers frame.Workers
	window  []numbered  // the last sound frames, and the frames not judged yet
	moved   distance    // from the frame before the window to the window's first
	size    image.Point // of a picture
	history
	verdict map[int]Finding // by frame number
	jumps   *jumps          // nil if they are not looked for
	// signatures of the first frames and of the last ones
	head, tail []*signature
	limits     limits
	parts      *parts.Detector // nil if damage to parts is not looked for
	rows       int             // of cells that count
	find       []Kind          // as in Options
}

// history is what was measured of each frame.
type history struct {
	motion []float32 // by how much the cells that change most exceed noise, in grey levels
	noise  []float32 // the change that noise explains, in grey levels
	moves  []float32 // motion without what light explains
	fresh  []float32 // whether it was shot anew; 0 if it changes by too little or too much to ask
	flat   []bool    // whether it shows nothing, and therefore no motion
	shares []float64 // of the cells that stray
	means  []float64 // of luma, in grey levels
}

type numbered struct {
	number int
	*signature
	step *distance // from the frame before; nil for the first frame
	// beside is the field of the other lines next to this one that is of another frame: of the one before or, if after is set, of the
	// one after; nil for frames.
	beside *signature
	after  bool
}

func newDetector(o *Options) (*detector, error) {
	l, err := o.Sensitivity.limits()
	if err != nil {
		return nil, err
	}
	d := &detector{limit: o.MaxRun, workers: frame.Workers{N: o.Convert.Compute.Threads}, verdict: map[int]Finding{}, limits: l, rows: cellsY, find: o.Find}
	if wants(o.Find, Jump) {
		if d.jumps, err = newJumps(d.workers); err != nil {
			return nil, err
		}
	}
	if wantsParts(o.Find) {
		d.parts = parts.New(l.parts, d.workers)
	}
	return d, nil
}

func (d *detector) close() {
	if d.jumps != nil {
		d.jumps.close()
	}
}

// add takes the next frame.
func (d *detector) add(f *frame.Frame) error {
	luma := d.luma(f)
	return d.see(f, numbered{signature: newSignature(f, luma)}, luma, frame.Image[uint8]{})
}

// luma returns the luma of a picture.
func (d *detector) luma(f *frame.Frame) frame.Image[uint8] {
	if d.parts != nil || f.Width <= smallWidth { // it is kept
		return warp.OwnLuma(f)
	}
	return warp.Luma(f)
}

// see takes the next picture, which is measured, and the other one that was shown since the one before, as parts.Detector.Add does.
func (d *detector) see(f *frame.Frame, next numbered, now, other frame.Image[uint8]) error {
	if f.Damaged {
		d.verdict[len(d.means)] = Finding{Kind: DecodeError, Score: 1}
	}
	l := next.signature
	if next.number = len(d.means); len(d.tail) > 0 {
		next.step = distances(l.small, d.tail[len(d.tail)-1].small)
	}
	d.measure(l, next.step)
	d.window = append(d.window, next)
	d.flat = append(d.flat, l.flat())
	mean, _ := moments(&l.value[level])
	d.shares, d.means = append(d.shares, 0), append(d.means, mean)
	d.size = image.Pt(now.Width, now.Height)
	if len(d.window) == d.limit+2 {
		d.judge()
	}
	if len(d.head) < endFrames {
		d.head = append(d.head, l)
	}
	if d.tail = append(d.tail, l); len(d.tail) > endFrames {
		d.tail = d.tail[1:]
	}
	if d.parts != nil {
		d.parts.Add(now, other)
	}
	if d.jumps == nil {
		return nil
	}
	return d.jumps.add(l.small)
}

// measure adds to history how l, the next frame, differs from the one before.
func (d *detector) measure(l *signature, step *distance) {
	var motion, noise, moves, fresh float32
	if step != nil {
		last := d.tail[len(d.tail)-1]
		motion, noise = step.motion(l.spread())
		moves = step.withoutLight(l, last).above(noise)
		if motion < stoppedNoisy && noise > noisy {
			fresh = l.fresh(last)
		}
	}
	d.motion, d.noise = append(d.motion, motion), append(d.noise, noise)
	d.moves, d.fresh = append(d.moves, moves), append(d.fresh, fresh)
}

// judge looks beyond the first frame of the window for the shortest run of spoilt frames between
// frames that are alike, and takes the run out of the window. If it finds none, it takes out the
// first frame.
func (d *detector) judge() {
	step := d.window[1].step
	if d.window[1].number > d.window[0].number+1 { // those between are out of the window
		step = distances(d.window[0].small, d.window[1].small)
	}
	for n := 2; n < len(d.window); n++ {
		if d.spoils(n, step) {
			d.window = slices.Delete(d.window, 1, n)
			return
		}
	}
	d.moved = *step
	d.window = slices.Delete(d.window, 0, 1)
}

// suspect is how much of what makes a frame spoilt must stray, in a single frame, for the second look, which sees more where
// everything moves. faint is how much is enough if such a frame changes plainTimes as much as the frames around it.
const (
	suspect    = 1.0 / 3
	faint      = 2.0 / 3
	plainTimes = 3
	// mostPassing is up to how much of a field may have passed, if the next field of the other lines shows it, and mostLeft up to how
	// much of that the next field need not show, if that is little.
	mostPassing = 0.3
	mostLeft    = 0.75
)

// spoils records the frames between the window's first and its n-th as spoilt, if they are, and
// reports whether they are. step is how much the first of them differs from the frame before.
func (d *detector) spoils(n int, step *distance) bool {
	before, after := d.window[0].signature, d.window[n].signature
	if after.flat() && after.emptier(before) { // damage itself, or another scene
		return false
	}
	var scores []float64
	var kinds []Kind
	for i, f := range d.window[1:n] {
		if i > 0 {
			step = distances(f.small, before.small)
		}
		s := strays(before, f.signature, after, step, &d.moved, d.rows)
		if n == 2 {
			d.shares[f.number] = s
		}
		apart := d.window[n].number - d.window[0].number
		limit := d.limits.spoilt * float64(apart) / 2 // a longer run needs better proof
		if n > 2 && s < limit || s < suspect*limit {
			return false
		}
		if apart == 2 {
			limit *= faint
		}
		var kind Kind
		if s, kind = secondLook(f.signature, []*signature{before, after}, s, limit, d.rows); s < limit {
			return false
		}
		if kind == Garbled && s < mostPassing && d.besideSound(i+1, n) {
			left, _ := secondLook(f.signature, []*signature{before, after, f.beside}, s, limit, d.rows)
			if left < limit || left < 2*limit && left <= mostLeft*s {
				return false
			}
			s = left
		}
		scores, kinds = append(scores, s), append(kinds, kind)
	}
	for i, s := range scores {
		f := d.window[1+i]
		if d.verdict[f.number].Kind == "" {
			d.verdict[f.number] = Finding{Kind: kinds[i], Score: s}
		}
	}
	return true
}

// besideSound reports whether the window's k-th has a field beside it of a frame that is sound if those between the window's first and
// its n-th are spoilt.
func (d *detector) besideSound(k, n int) bool {
	f := d.window[k]
	return f.beside != nil && (f.after && k == n-1 || !f.after && k == 1 && d.window[0].number == f.number-1)
}

// finish returns all findings in order: runs of frames with the same damage, gaps
// between the timestamps, and jumps in motion.
func (d *detector) finish(stamps []int64) []Finding {
	for len(d.window) > 2 {
		d.judge()
	}
	d.ends()
	d.dropUsual()
	d.repeats(barely, still, nearlyStill) // slow motion may precede repeats
	found := d.areas()
	first := len(found)
	for n := range d.means {
		f := d.verdict[n]
		if f.Kind == "" {
			continue
		}
		f.First, f.Last = Place{Number: int64(n)}, Place{Number: int64(n)}
		if k := len(found) - 1; k >= first && found[k].Kind == f.Kind && found[k].Last.Number == int64(n)-1 {
			found[k].Last, found[k].Score = f.Last, min(found[k].Score, f.Score)
			continue
		}
		found = append(found, f)
	}
	found = slices.Concat(found, gaps(stamps), d.jumped(stamps))
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.First.Number, b.First.Number) })
	return found
}

// usualIn is how many frames on either side of a spoilt one are asked whether they are like it.
const usualIn = 24

// dropUsual takes back faint damage if the frame does not plainly change, and garbled and lit frames if as much as in them strays
// again and again, or if light changes by as much: a lamp flickers, or a stage is lit.
func (d *detector) dropUsual() {
	var dropped []int
	for n, f := range d.verdict {
		if d.spoiltAt(n) && f.Score < d.limits.spoilt && !d.changesPlainly(n) {
			dropped = append(dropped, n)
		} else if f.Kind == Garbled || f.Kind == Flash {
			usual := d.flicker(n)
			if d.recurs(n) || d.passes(n) || usual >= unsteady && f.Score < plain || f.Kind == Flash && d.lit(n) < farBrighter*usual {
				dropped = append(dropped, n)
			}
		}
	}
	for _, n := range dropped {
		delete(d.verdict, n)
	}
}

// Light is unsteady if the mean luma of every fourth frame is unsteady levels off that of the frames beside it, and then so
// much of a spoilt frame is plain. A flash is farBrighter times as far off as every fourth frame.
const (
	unsteady    = 2.5
	farBrighter = 4.2
	plain       = 0.75
)

// changesPlainly reports whether frame n differs from those before and after by far more than the frames around it do.
func (d *detector) changesPlainly(n int) bool {
	return min(d.motion[n], d.motion[n+1]) >= plainTimes*d.usual(d.motion, n)
}

// passes reports whether something small passes through frame n: little of it strays, and the frames on either side stray at least a
// quarter as much.
func (d *detector) passes(n int) bool {
	return d.verdict[n].Score < 2*d.limits.spoilt && n > 0 && n+1 < len(d.shares) && 4*min(d.shares[n-1], d.shares[n+1]) >= d.shares[n]
}

// recurs reports whether many of the frames around n stray as much as it.
func (d *detector) recurs(n int) bool {
	from, to := max(n-usualIn, 0), min(n+usualIn, len(d.shares)-1)
	alike := 0
	for k := from; k <= to; k++ {
		if 2*d.shares[k] >= d.shares[n] && d.shares[k] >= d.limits.spoilt/2 && d.verdict[k].Kind != Black && d.verdict[k].Kind != White {
			alike++
		}
	}
	return float64(alike) > max(d.limits.often*float64(to-from), 3)
}

// lit returns how far the mean luma of frame n is off that of the nearest sound frames on either side.
func (d *detector) lit(n int) float64 {
	before, after := n-1, n+1
	for before >= 0 && d.spoiltAt(before) {
		before--
	}
	for after < len(d.means) && d.spoiltAt(after) {
		after++
	}
	if before < 0 || after == len(d.means) {
		return 0
	}
	return math.Abs(d.means[n] - (d.means[before]+d.means[after])/2)
}

// flicker returns the third quartile of lit around frame n, black and white frames left out.
func (d *detector) flicker(n int) float64 {
	var all []float64
	for k := max(n-usualIn, 1); k <= min(n+usualIn, len(d.means)-2); k++ {
		if kind := d.verdict[k].Kind; kind != Black && kind != White {
			all = append(all, d.lit(k))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)*3/4]
}

// switching is a share of a field's lines: the heads of a tape switch in the lowest of them.
const switching = 36

// areas returns damage to parts of the frames, but for those that are damaged as a whole if that is looked for, too.
func (d *detector) areas() (found []Finding) {
	if d.parts == nil {
		return nil
	}
	for _, a := range d.parts.Find() {
		if k := d.verdict[a.Number].Kind; k != "" && wants(d.find, k) || d.rows < cellsY && a.Box.Min.Y >= d.size.Y-d.size.Y/switching {
			continue
		}
		f := Finding{First: Place{Number: int64(a.Number)}, Last: Place{Number: int64(a.Number)}, Kind: Kind(a.Kind), Score: a.Score}
		if a.Box.Dx() < d.size.X || a.Box.Dy() < d.size.Y {
			for _, p := range a.Pieces {
				f.Regions = append(f.Regions, &Region{X: p.Min.X, Y: p.Min.Y, Width: p.Dx(), Height: p.Dy()})
			}
		}
		found = append(found, f)
	}
	return found
}

// At the clip's ends a frame has sound neighbours on one side only. It is spoilt if
// part of it fits neither of the next two frames although these fit each other. A frame
// that differs all over is taken for another scene, and a flat one for a fade or a
// leader.
const (
	endFrames = 4
	endSpoilt = 0.15 // of the cells, at least
	anotherAt = 0.8  // of the cells, from which it is another scene
)

// ends records the first and the last frame as spoilt, if they are.
func (d *detector) ends() {
	last := len(d.means) - 1
	if last < 2*endFrames {
		return
	}
	slices.Reverse(d.tail)
	d.end(0, d.head)
	d.end(last, d.tail)
}

// end judges frame n, the first or the last. f holds the signatures from frame n
// inwards.
func (d *detector) end(n int, f []*signature) {
	if d.spoiltNear(n, endFrames-1) {
		return
	}
	share := strays(f[1], f[0], f[2], distances(f[0].small, f[1].small), distances(f[2].small, f[3].small), d.rows)
	if share < endSpoilt {
		return
	}
	share, k := secondLook(f[0], []*signature{f[1], f[2]}, share, endSpoilt, d.rows)
	if share >= endSpoilt && share < anotherAt && k != Black && k != White {
		d.verdict[n] = Finding{Kind: k, Score: share}
	}
}

// spoiltNear reports whether a frame at most reach from n is spoilt or repeated.
func (d *detector) spoiltNear(n, reach int) bool {
	for i := n - reach; i <= n+reach; i++ {
		if k := d.verdict[i].Kind; k != "" && k != DecodeError {
			return true
		}
	}
	return false
}

// jumped returns the jumps in motion that nothing else explains: neither damage nor timestamps, nor
// a cadence, because some conversions drop every n-th frame.
func (d *detector) jumped(stamps []int64) []Finding {
	if d.jumps == nil {
		return nil
	}
	d.jumps.dropFaint()
	var found []Finding
	runs := make([][2]int, len(d.jumps.found))
	for i, j := range d.jumps.found {
		runs[i] = [2]int{j.number, j.number + 1}
	}
	for i, j := range d.jumps.found {
		if d.spoiltNear(j.number, jumpWindow/2+1) || !evenly(stamps, j.number) || inCadence(runs, i, len(stamps)) || !d.jumps.standsOut(j.number) {
			continue
		}
		p := Place{Number: int64(j.number - 1)}
		found = append(found, Finding{First: p, Last: p, Kind: Jump, Score: j.score, Missing: j.missing})
	}
	return found
}

// evenly reports whether all frames of a jump's window around frame n have the same duration.
func evenly(stamps []int64, n int) bool {
	step := stamps[n] - stamps[n-1]
	for i := max(n-jumpWindow/2, 1); i <= min(n+jumpWindow/2, len(stamps)-1); i++ {
		if d := stamps[i] - stamps[i-1] - step; 4*max(d, -d) > step {
			return false
		}
	}
	return true
}

// Timestamps have a gap if a frame lasts more than gapSteps times as long as the median or, if the
// rate varies, gapVariable times.
const (
	gapSteps     = 1.5
	gapVariable  = 4.0
	variableFrom = 0.2 // share of longer frames at which the rate counts as variable
)

// gaps finds missing frames from the timestamps.
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
