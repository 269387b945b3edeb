package restore

import (
	"cmp"
	"math"
	"slices"
)

// A run of frames repeats the frame before it, in the midst of motion, if its frames change by much less than the frames
// around them, if those change by at least moving grey levels, by more than light, and if the missed motion appears after the
// run, which is taken for granted where hardly anything changes. If coding noise blurs the first repeat, the motion must stop
// at once and reappear plainly, as it must if the noise is not the repeat's own.
const (
	nearby       = 24   // frames on either side to compare with
	moving       = 3    // grey levels, at least
	mostMoving   = 12   // cells
	stopped      = 3    // grey levels, at most
	stoppedNoisy = 6    // grey levels, at most, if the picture before has all its detail in this one, under noise
	copied       = 0.1  // of the change is detail that is gone, at most, if so
	noisy        = 0.5  // grey levels, from which there is noise
	loudest      = 20   // grey levels, up to which there is: water and leaves change more than noise everywhere
	anew         = 0.25 // of the change is detail that is gone, at least
	barely       = 0.05 // of the usual change, at most
	still        = 0.2  // of the usual change, at most
	goingOn      = 0.7  // of the usual change, at least
	nearlyStill  = 0.4  // of the usual change, at most
	stopping     = 0.5  // of the change before, at most
	plainlyAhead = 1.2  // of the usual change, at least
)

// motion returns noise, which is alike everywhere, and by how much the cells that change most exceed it. spread is that of
// the pictures.
func (d *distance) motion(spread float64) (motion, noise float32) {
	var all [cellsX * cellsY]float64
	for y := range d {
		copy(all[y*cellsX:], d[y][:])
	}
	slices.Sort(all[:])
	noise = float32(min(spread*all[len(all)/10], loudest))
	return d.above(noise), noise
}

// above returns by how much the cells that change most exceed noise: their squares add.
func (d *distance) above(noise float32) float32 {
	var most [mostMoving]float64 // from the least on
	for _, row := range d {
		for _, v := range row {
			if v > most[0] {
				k := 1
				for ; k < mostMoving && most[k] < v; k++ {
					most[k-1] = most[k]
				}
				most[k-1] = v
			}
		}
	}
	sum := 0.0
	for _, v := range most {
		sum += v
	}
	sum /= mostMoving
	return float32(math.Sqrt(max(sum*sum-float64(noise)*float64(noise), 0)))
}

// spread returns how many times more noise changes the cells that change most than it changes the calmest tenth. The mean
// over n pixels of a change by noise has a standard deviation of 0.75 times itself over the root of n; the most lie 2.4 of
// these above the mean, and the tenth 1.28 below.
func (l *signature) spread() float64 {
	const least, margin = 1.4, 1.07
	deviation := min(0.75*math.Sqrt(cellsX*cellsY/float64(l.small.Width*l.small.Height)), 0.25) // cells may have few pixels
	return max(margin*(1+2.4*deviation)/(1-1.28*deviation), least)
}

// withoutLight returns what is left of d, the distance between two pictures, without what changes all pixels of a cell in the
// same direction, as light does.
func (d *distance) withoutLight(a, b *signature) *distance {
	var left distance
	for y := range d {
		for x, v := range d[y] {
			left[y][x] = max(v-float64(abs(int(a.value[level][y][x])-int(b.value[level][y][x]))), 0)
		}
	}
	return &left
}

// fresh returns which share of the change from a to l is detail of a that is gone. It is a half in a frame that was shot anew:
// noise and motion take as much detail away as they add. It is none in a copy of a that has noise of its own.
func (l *signature) fresh(a *signature) float32 {
	var gone, change float64
	for y := range cellsY {
		for x := range cellsX {
			v := a.relit(l, x, y, 0, 0)
			shared := v.gain * v.otherVariance
			gone += v.otherVariance - shared
			change += v.otherVariance + v.variance - 2*shared
		}
	}
	if change < 1e-9 {
		return 0
	}
	return float32(gone / change)
}

// repeats records the repeated frames, which change by less than one of the shares of the usual change.
func (d *detector) repeats(shares ...float32) {
	var runs [][2]int // the first frame, and the one after the last
	for n := 1; n < len(d.motion); {
		next := n + 1
		for _, share := range shares {
			end := n
			for end < len(d.motion) && d.isStill(end, share) {
				end++
			}
			whole := n == 1 || !d.isStill(n-1, share)
			if whole && end > n && end-n <= d.limit && end < len(d.motion) && d.skipsMotion(n, end) {
				runs = append(runs, [2]int{n, end})
				next = end
				break
			}
		}
		n = next
	}
	for k, r := range runs {
		if inCadence(runs, k, len(d.motion)) || onGrid(runs, k, d.couldRepeat) || d.held(r[0]) {
			continue
		}
		for n := r[0]; n < r[1]; n++ {
			// Where light is unsteady, only a repeat without noise is one.
			if d.verdict[n].Kind == Repeated || d.motion[n] >= barely*d.usual(d.motion, n) && d.flicker(n) >= unsteady {
				continue
			}
			d.verdict[n] = d.repeated(n)
		}
	}
	d.offCadence()
}

func (d *detector) repeated(n int) Finding {
	return Finding{Kind: Repeated, Score: 1 - float64(d.motion[n]/d.usual(d.motion, n))}
}

// A cadence holds frames at the same places in each of its periods, of periodFrom to periodTo frames. One that is held at another place
// is damage if up to that many periods on each side agree, and at least periodsSeen of them are known.
const (
	periodFrom  = 2
	periodTo    = 5
	periods     = 3
	periodsSeen = 2 // on either side
)

// offCadence records repeats that a cadence does not explain.
func (d *detector) offCadence() {
	paces := make([]pace, len(d.motion))
	for n := 1; n < len(paces); n++ {
		switch {
		case d.spoiltAt(n) || d.spoiltAt(n-1):
		case d.isStill(n, nearlyStill):
			paces[n] = isHeld
		case d.motion[n] >= moving:
			paces[n] = isMoving
		}
	}
	for n := range paces {
		for p := periodFrom; p <= periodTo && d.verdict[n].Kind == ""; p++ {
			if breaksCadence(paces, n, p) {
				d.verdict[n] = d.repeated(n)
			}
		}
	}
}

// pace is what a frame shows: it is held, it moves, or neither is sure.
type pace uint8

const (
	unsure pace = iota
	isHeld
	isMoving
)

// breaksCadence reports whether frame n is held, and the next one moves, in a cadence of a period in which frames at the place of n move.
func breaksCadence(of []pace, n, period int) bool {
	if n+1 >= len(of) || of[n] != isHeld || of[n+1] != isMoving {
		return false
	}
	holds := false
	for place := range period {
		before, after := 0, 0
		usual := unsure
		for k := -periods; k <= periods; k++ {
			at := n + k*period + place
			if k == 0 || at < 0 || at >= len(of) || of[at] == unsure {
				continue
			}
			if usual != unsure && of[at] != usual || place == 0 && of[at] == isHeld {
				return false
			}
			usual = of[at]
			if k < 0 {
				before++
			} else {
				after++
			}
		}
		if min(before, after) < periodsSeen {
			return false
		}
		holds = holds || usual == isHeld
	}
	return holds
}

// held reports whether more than a third of the frames around n hardly change, few in a row. Of an animation on threes, many of these
// are no runs where damage takes away the motion that they would skip.
func (d *detector) held(n int) bool {
	from, to := max(n-nearby, 1), min(n+nearby, len(d.motion))
	usual := d.usual(d.motion, n)
	count, run := 0, 0
	for k := from; k <= to; k++ {
		if k < to && d.motion[k] < barely*usual {
			run++
			continue
		}
		if run <= d.limit {
			count += run
		}
		run = 0
	}
	return 3*count > to-from
}

// couldRepeat reports whether the frames about n move so much that a repeat among them would be seen.
func (d *detector) couldRepeat(n int) bool {
	for k := n - 1; k <= n+1; k++ {
		if k < 1 || k >= len(d.motion) || d.spoiltAt(k) || d.spoiltAt(k-1) || d.isStill(k, nearlyStill) || d.motion[k] < moving {
			return false
		}
	}
	return true
}

// isStill reports whether frame n changes by less than share of the usual change. A flat picture does not count as still, unless
// the two before it are flat, too.
func (d *detector) isStill(n int, share float32) bool {
	usual, most := d.usual(d.motion, n), float32(stopped)
	if d.noise[n] > noisy && d.fresh[n] < copied { // noise may be clipped where all is dark or bright, so less is alike everywhere
		most = stoppedNoisy
	}
	flat := d.flat[n] && (n < 2 || !d.flat[n-1] || !d.flat[n-2])
	return !flat && !d.spoiltAt(n) && !d.spoiltAt(n-1) && min(usual, d.usual(d.moves, n)) >= moving && d.motion[n] < min(share*usual, most)
}

// skipsMotion reports whether the still frames from n up to end lack motion that their neighbours
// have.
func (d *detector) skipsMotion(n, end int) bool {
	usual, most := d.usual(d.motion, n), slices.Max(d.motion[n:end])
	before, after := d.beside(n-1, -1), d.beside(end, 1)
	least := float32(math.Inf(1))
	for _, k := range []int{before, after} {
		if k < 0 {
			continue
		}
		if least = min(least, d.motion[k]); d.moves[k] < moving/2 {
			return false // light, or hardly anything
		}
	}
	switch {
	case before < 0 && after < 0:
		return false
	case d.shotAnew(n, end): // so is a pause, unless the motion goes on where it would have been
		return after >= 0 && least > 2*d.noise[n] && most < still*least && d.motion[after] >= plainlyAhead*max(usual, d.motion[max(before, 0)])
	case most < barely*least:
		return true
	case after < 0 || most >= still*d.motion[after]:
		return false
	case most < still*min(least, usual) && d.motion[after] >= goingOn*usual:
		return true
	}
	return before == n-1 && d.motion[n] <= stopping*d.motion[before] && d.motion[after] >= plainlyAhead*usual
}

// shotAnew reports whether one of the frames from n up to end has noise that is not its own alone.
func (d *detector) shotAnew(n, end int) bool {
	for k := n; k < end; k++ {
		if d.noise[k] > noisy && d.fresh[k] > anew {
			return true
		}
	}
	return false
}

// beside returns the first frame from n on, or back from n, that differs from the one before by its motion alone, or -1 if
// there is none soon.
func (d *detector) beside(n, by int) int {
	for k := 0; k <= d.limit; k, n = k+1, n+by {
		if n < 1 || n >= len(d.motion) {
			return -1
		}
		if !d.spoiltAt(n) && !d.spoiltAt(n-1) {
			return n
		}
	}
	return -1
}

func (d *detector) spoiltAt(n int) bool {
	k := d.verdict[n].Kind
	return k != "" && k != DecodeError && k != Repeated
}

// usual returns how much the frames around n change: the 70th percentile of one of the measures, which neither repeats nor
// cuts affect.
func (d *detector) usual(of []float32, n int) float32 {
	var near [2*nearby + 1]float32
	k := 0
	for i := max(n-nearby, 1); i <= min(n+nearby, len(of)-1); i++ {
		if !d.spoiltAt(i) && !d.spoiltAt(i-1) {
			near[k] = of[i]
			k++
		}
	}
	if k == 0 {
		return 0
	}
	slices.Sort(near[:k])
	return near[k*7/10]
}

// Animation is drawn on twos or threes, some conversions repeat every n-th frame, and silent films have fewer frames a second
// than what they are copied to. So repeats are not damage if they come at equal distances of at most maxCadence frames, cadence
// times in a row, or if they make up more than a third of the frames, or if they fill a grid.
const (
	maxCadence = 30
	cadence    = 3
)

// inCadence reports whether run k, in a clip of count frames, belongs to a cadence.
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

// Repeats of one frame fill a grid, whose step need not be a whole number, if they are no further than a frame from each other's
// places on it, as where a converter rounds down, and so are gridFilled of gridOf of all repeats; if they fill as large a share of
// the places from the first to the last; and if there are at least gridLeast. Places at which no repeat could be seen are not counted.
const (
	gridFrom   = 2.0 // frames
	gridTo     = 9.0
	gridFilled = 3
	gridOf     = 4
	gridLeast  = 6
)

// onGrid reports whether run k is one of many that fill a grid. seen reports whether a repeat could be seen about a frame.
func onGrid(runs [][2]int, k int, seen func(n int) bool) bool {
	at := runs[k][0]
	begins := func(r [2]int, n int) int { return cmp.Compare(r[0], n) }
	from, _ := slices.BinarySearchFunc(runs, at-2*nearby, begins)
	to, _ := slices.BinarySearchFunc(runs, at+2*nearby+1, begins)
	near := runs[from:to]
	if len(near) < gridLeast {
		return false
	}
	for _, r := range near {
		span := math.Abs(float64(r[0] - at))
		for places := math.Ceil(span / gridTo); places > 0 && float64(places*gridFrom) <= span; places++ {
			if fillsGrid(near, at, span/places, seen) {
				return true
			}
		}
	}
	return false
}

// fillsGrid reports whether runs fill the grid of a step through the one at a frame, or less than a frame beside it.
func fillsGrid(runs [][2]int, at int, step float64, seen func(n int) bool) bool {
	type held struct {
		place int
		off   float64
	}
	var on []held
	for _, r := range runs {
		place := math.Round(float64(r[0]-at) / step)
		if off := float64(r[0]-at) - float64(place*step); r[1]-r[0] == 1 && math.Abs(off) < 1 {
			on = append(on, held{int(place), off})
		}
	}
	slices.SortFunc(on, func(a, b held) int { return cmp.Compare(a.off, b.off) })
	var most []held
	for i, j := 0, 0; j < len(on); j++ {
		for on[j].off-on[i].off >= 1 {
			i++
		}
		if j+1-i > len(most) {
			most = on[i : j+1]
		}
	}
	if len(most) < gridLeast || gridOf*len(most) < gridFilled*len(runs) {
		return false
	}
	filled := map[int]bool{}
	first, last := most[0].place, most[0].place
	for _, h := range most {
		filled[h.place] = true
		first, last = min(first, h.place), max(last, h.place)
	}
	empty := 0
	for place := first; place <= last; place++ {
		if !filled[place] && seen(at+int(math.Round(float64(float64(place)*step)))) {
			empty++
		}
	}
	return gridOf*len(filled) >= gridFilled*(len(filled)+empty)
}
