package parts

import (
	"image"
	"math"
	"slices"
)

// around is how many pictures on either side of one are asked how much stirs in them, and near how many pixels beside a
// candidate. The outliers, in which most stirs, do not count: they may be damaged, too.
const (
	around   = 6
	near     = 16
	outliers = 2
)

// see takes what was seen in the next picture, and decides on the one around pictures before.
func (d *Detector) see(s sight) {
	if d.seen = append(d.seen, s); len(d.seen) > 2*around+1 {
		d.seen = d.seen[1:]
	}
	if n := len(d.seen) - 1 - around; n >= 0 {
		d.decide(n)
	}
}

// surges is how many times as much as in its candidates may stir anew in a picture; more is light that changes. quiet is how much stirs
// in each pixel without that.
const (
	surges = 4.5
	quiet  = 0.035
)

// decide adds what is damage in the n-th of the pictures seen.
func (d *Detector) decide(n int) {
	s := &d.seen[n]
	if len(s.areas) == 0 {
		return
	}
	seen, n := d.seen[max(n-around, 0):], min(n, around)
	size := float64(d.marks.Width * d.marks.Height)
	total, most, _ := d.stir(seen, n, image.Rect(0, 0, d.marks.Width, d.marks.Height))
	all := quiet * size
	for _, c := range s.areas {
		if c.kind != Jitter {
			all += float64(c.weight)
		}
	}
	light := s.spots || float64(total-most) > surges*all
	busy := math.Log(float64(min(total, most))/size + leastBusy)
	var found []candidate
	for _, c := range s.areas {
		here, beside, next := d.stir(seen, n, c.box)
		if c.kind == Jitter && (s.spots || outdone(seen, n, &c)) || c.kind != Jitter && (light || c.hopeless || recurs(seen, n, c.box, c.weight)) {
			continue
		}
		c.score = score(c.sort, [aroundMeasures]float64{ratio(c.weight, beside), math.Log(like(seen, n, &c) + leastLike), ratio(c.weight, here), busy, ratio(c.weight, next)}, c.measures)
		if c.score >= d.least {
			found = append(found, c)
		}
	}
	for i := range found {
		if c := &found[i]; c.kind == Dropout && across(found, c.box, d.marks.Width) {
			c.kind = Streak
		}
	}
	for _, c := range merge(found) {
		d.found = append(d.found, Area{s.number, c.kind, c.score, c.box, c.all()})
	}
}

// What is added to measures before their logarithms are taken.
const (
	leastBusy   = 0.05
	leastLike   = 0.1
	leastWeighs = 50
)

// ratio compares a candidate's weight with what stirs.
func ratio(weight, stirs int) float64 {
	return math.Log(float64(weight+leastWeighs) / float64(stirs+leastWeighs))
}

// outdone reports whether more rows are shifted in the picture before or after the n-th: beside a damaged picture, a sound one seems
// shifted, too.
func outdone(seen []sight, n int, c *candidate) bool {
	for k := max(n-1, 0); k <= min(n+1, len(seen)-1); k++ {
		if k != n && slices.ContainsFunc(seen[k].areas, func(o candidate) bool { return o.kind == Jitter && o.weight > c.weight && o.box.Overlaps(c.box) }) {
			return true
		}
	}
	return false
}

// stir returns how much stirs near box in the n-th of the pictures, in the others, and in the one before or after, whichever is more.
func (d *Detector) stir(seen []sight, n int, box image.Rectangle) (here, beside, next int) {
	columns := (d.marks.Width + cellWidth - 1) / cellWidth
	box = box.Inset(-near).Intersect(image.Rect(0, 0, d.marks.Width, d.marks.Height))
	x0, x1 := box.Min.X/cellWidth, (box.Max.X+cellWidth-1)/cellWidth
	y0, y1 := box.Min.Y/cellHeight, (box.Max.Y+cellHeight-1)/cellHeight
	var all []int
	for k, s := range seen {
		sum := 0
		for y := y0; y < y1; y++ {
			for _, v := range s.stir[y*columns+x0 : y*columns+x1] {
				sum += int(v)
			}
		}
		if k == n {
			here = sum
		} else {
			all = append(all, sum)
			if k == n-1 || k == n+1 {
				next = max(next, sum)
			}
		}
	}
	slices.Sort(all)
	if k := len(all) - 1 - outliers; k >= 0 {
		beside = all[k]
	}
	return here, beside, next
}

// often is in how many of the pictures around the like may be at the same place.
const often = 2

// recurs reports whether an area as heavy is at the same place in more than often of the pictures but the n-th: a lamp.
func recurs(seen []sight, n int, box image.Rectangle, weight int) bool {
	count := 0
	for k, s := range seen {
		if k != n && slices.ContainsFunc(s.areas, func(o candidate) bool { return !o.hopeless && 2*o.weight >= weight && o.box.Overlaps(box) }) {
			count++
		}
	}
	return count > often
}

// like returns how many candidates of the sort of c that weigh half as much or more there are in each of the pictures but the n-th.
func like(seen []sight, n int, c *candidate) float64 {
	var all []int
	for k, s := range seen {
		if k == n {
			continue
		}
		count := 0
		for _, o := range s.areas {
			if o.sort == c.sort && 2*o.weight >= c.weight && !o.hopeless {
				count++
			}
		}
		all = append(all, count)
	}
	slices.Sort(all)
	all = all[:max(len(all)-outliers, 0)]
	sum := 0
	for _, v := range all {
		sum += v
	}
	return float64(sum) / float64(max(len(all), 1))
}

// Find returns all damage, in the order of pictures, once all are added.
func (d *Detector) Find() []Area {
	for n := max(len(d.seen)-around, 0); n < len(d.seen); n++ {
		d.decide(n)
	}
	d.seen = nil
	return d.found
}

// leastShare is how much an area may be like what is elsewhere; see elsewhere.
const leastShare = 0.4

// settle sets a candidate's measure of how little it is like what is elsewhere, the i-th, if it can still score enough.
func (d *Detector) settle(a, c, b *picture, k *candidate, i int) {
	k.extent, k.measures[i] = k.box, 1
	k.measures = append(k.measures, 0)
	if k.hopeless = d.hopeless(k); k.hopeless {
		return
	}
	if k.measures[i] = d.elsewhere(a, c, b, k.box); k.measures[i] < leastShare {
		k.hopeless = true
	} else if others := othersOf(c, b); others != nil {
		k.measures[len(k.measures)-1] = min(float64(d.stray(a, c, b, others, k.box))/float64(k.weight), 1)
	}
}

// hopeless reports whether a candidate of the picture that is judged scores so little that the next pictures will hardly help.
func (d *Detector) hopeless(k *candidate) bool {
	seen := d.seen[max(len(d.seen)-around, 0):]
	_, beside, next := d.stir(append(seen[:len(seen):len(seen)], sight{stir: d.now}), len(seen), k.box)
	m := [aroundMeasures]float64{ratio(k.weight, beside), math.Log(leastLike), 0, math.Log(leastBusy), ratio(k.weight, next)}
	return score(k.sort, m, k.measures) < d.least/4
}
