package restore

import (
	"math"
	"slices"
)

// A run of frames repeats the frame before it, in the midst of motion, if its frames change by much
// less than the frames around them, if those change by at least moving grey levels, and if the
// missed motion appears after the run. If coding noise blurs the first repeat, the motion must stop
// at once and reappear plainly.
const (
	nearby       = 24   // frames on either side to compare with
	moving       = 3    // grey levels, at least
	mostMoving   = 12   // cells
	noiseSpread  = 1.4  // of how much the calmest tenth of the cells change at most
	stopped      = 3    // grey levels, at most
	barely       = 0.05 // of the usual change, at most
	still        = 0.2  // of the usual change, at most
	goingOn      = 0.7  // of the usual change, at least
	nearlyStill  = 0.4  // of the usual change, at most
	stopping     = 0.5  // of the change before, at most
	plainlyAhead = 1.2  // of the usual change, at least
)

// motion returns noise, which is alike everywhere, and by how much the cells that change most exceed it.
func (d *distance) motion() (motion, noise float32) {
	if d == nil {
		return 0, 0
	}
	var all [cellsX * cellsY]float64
	for y := range d {
		copy(all[y*cellsX:], d[y][:])
	}
	slices.Sort(all[:])
	sum := 0.0
	for _, v := range all[len(all)-mostMoving:] {
		sum += v
	}
	most, grain := sum/mostMoving, noiseSpread*all[len(all)/10]
	return float32(math.Sqrt(max(most*most-grain*grain, 0))), float32(grain) // their squares add
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
		if inCadence(runs, k, len(d.motion)) {
			continue
		}
		for n := r[0]; n < r[1]; n++ {
			// Where light is unsteady, only a repeat without noise is one.
			if d.verdict[n].Kind == Repeated || d.motion[n] >= barely*d.usual(n) && d.flicker(n) >= unsteady {
				continue
			}
			d.verdict[n] = Finding{Kind: Repeated, Score: 1 - float64(d.motion[n]/d.usual(n))}
		}
	}
}

// isStill reports whether frame n changes by less than share of the usual change.
func (d *detector) isStill(n int, share float32) bool {
	usual := d.usual(n)
	return !d.flat[n] && !d.spoiltAt(n) && !d.spoiltAt(n-1) && usual >= moving && d.motion[n] < min(share*usual, stopped)
}

// skipsMotion reports whether the still frames from n up to end lack motion that their neighbours
// have.
func (d *detector) skipsMotion(n, end int) bool {
	usual, most := d.usual(n), slices.Max(d.motion[n:end])
	beside := d.motion[end]
	if n > 1 {
		beside = max(beside, d.motion[n-1])
	}
	if most >= still*beside || beside <= 2*d.noise[n] {
		return false // slow motion, or less than noise hides
	}
	if d.spoiltAt(end) {
		return most < still*usual
	}
	ahead := usual
	if n > 1 && most < barely*usual {
		ahead = min(usual, d.motion[n-1])
	}
	if most < still*usual && d.motion[end] >= goingOn*ahead {
		return true
	}
	stops := n > 1 && !d.spoiltAt(n-2) && d.motion[n] <= stopping*d.motion[n-1]
	return stops && d.motion[end] >= plainlyAhead*usual
}

func (d *detector) spoiltAt(n int) bool {
	k := d.verdict[n].Kind
	return k != "" && k != DecodeError && k != Repeated
}

// usual returns how much the frames around n change: the 70th percentile, which neither repeats nor
// cuts affect.
func (d *detector) usual(n int) float32 {
	var near [2*nearby + 1]float32
	k := 0
	for i := max(n-nearby, 1); i <= min(n+nearby, len(d.motion)-1); i++ {
		if !d.spoiltAt(i) && !d.spoiltAt(i-1) {
			near[k] = d.motion[i]
			k++
		}
	}
	if k == 0 {
		return 0
	}
	slices.Sort(near[:k])
	return near[k*7/10]
}

// Animation is drawn on twos or threes, and some conversions repeat every n-th frame. So repeats
// are not damage if they come at equal distances of at most maxCadence frames, cadence times in a
// row, or if they make up more than a third of the frames.
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
