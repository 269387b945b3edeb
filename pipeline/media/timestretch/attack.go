package timestretch

// detector finds attacks: blocks of a millisecond in which the differences between
// samples have many times the power of any block shortly before. It places an attack at
// the strongest of the blocks that follow, because coders put noise before an attack.
type detector struct {
	block  int                   // samples
	recent [attackBlocks]float64 // power of the last blocks, a ring
	at     int
	fill   int // samples in the current block
	power  float64
	peak   float64 // power of the strongest difference in the current block
	last   []float64
	next   int64 // position of the next sample

	waiting   int // blocks until the attack is settled; 0 if none is pending
	strongest float64
	settled   int64
}

// attackBlocks is how many blocks back an attack must stand out from, attackRatio
// by how much, attackFloor the least power of a difference, full scale being 1
// (about -66 dB), and attackLength in how many blocks it must reach its peak.
const (
	attackBlocks = 25
	attackRatio  = 8
	attackFloor  = 2.5e-7
	attackLength = 10
)

func newDetector(rate int) detector { return detector{block: max(rate/1000, 1)} }

func (d *detector) start(position int64) { d.next = position }

// attacks takes the samples of source from index old on and returns the positions of
// the attacks that these samples complete.
func (d *detector) attacks(source [][]float64, old int) (found []int64) {
	if d.last == nil {
		d.last = make([]float64, len(source))
	}
	for i := old; i < len(source[0]); i++ {
		var p float64
		for c, x := range source {
			v := x[i] - d.last[c]
			d.last[c] = x[i]
			p += float64(v * v)
		}
		d.power += p
		d.peak = max(d.peak, p)
		d.next++
		if d.fill++; d.fill < d.block {
			continue
		}
		if d.waiting == 0 && d.attack() {
			d.waiting, d.strongest = attackLength, 0
		}
		if d.waiting > 0 {
			if d.power > d.strongest {
				d.strongest = d.power
				d.settled = d.next - int64(d.block) + int64(d.onset(source, i+1-d.block))
			}
			if d.waiting--; d.waiting == 0 {
				found = append(found, d.settled)
			}
		}
		d.recent[d.at] = d.power
		d.at = (d.at + 1) % attackBlocks
		d.fill, d.power, d.peak = 0, 0, 0
	}
	return found
}

// attack reports whether the block just filled stands out.
func (d *detector) attack() bool {
	if d.peak < attackFloor {
		return false
	}
	for _, p := range d.recent {
		if d.power < attackRatio*p {
			return false
		}
	}
	return true
}

// onset returns the first sample, counted from index from, of the block whose
// difference from the sample before has at least a quarter of the block's peak power.
func (d *detector) onset(source [][]float64, from int) int {
	for i := range d.block {
		if from+i == 0 {
			continue
		}
		var p float64
		for _, x := range source {
			v := x[from+i] - x[from+i-1]
			p += float64(v * v)
		}
		if 4*p >= d.peak {
			return i
		}
	}
	return 0
}
