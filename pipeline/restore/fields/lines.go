package fields

import "retime/frame"

// moment is one field of a frame; its frame is nil if the field is not there.
type moment struct {
	*frame.Frame
	field Set
}

// neighbourhood is a field at here, the three before it, and the three after it. Every second one
// has the same lines.
type neighbourhood [7]moment

const here = 3

// alike returns whether fields i and j are there and have the same lines.
func (h *neighbourhood) alike(i, j int) bool {
	return h[i].Frame != nil && h[j].Frame != nil && h[i].field == h[j].field
}

// A sample stands still if it and those around differ by less than stillBelow grey levels between fields
// of the same lines, and moves from movesFrom on.
const (
	stillBelow = 4
	movesFrom  = 12
)

// fillLines sets dst to a picture of the field at here. The lines between that field's come, where
// nothing moves, from the fields just before and after it, and elsewhere from the lines above and
// below, by a cubic of four.
func fillLines(workers frame.Workers, dst *frame.Frame, h *neighbourhood) {
	copyField(dst, h[here].Frame, h[here].field)
	if dst.Format.Bytes() == 2 {
		fillPlanes[uint16](workers, dst, h)
	} else {
		fillPlanes[uint8](workers, dst, h)
	}
}

func fillPlanes[T frame.Sample](workers frame.Workers, dst *frame.Frame, h *neighbourhood) {
	for i := range dst.Planes {
		p := filler[T]{plane: frame.Samples[T](dst.Planes[i]), own: h[here].field.first(), unit: 1 << (dst.Format.Depth - 8), max: int32(dst.Format.Max())}
		samples := func(m moment) frame.Image[T] { return frame.Samples[T](m.Planes[i]) }
		for _, j := range []int{here - 1, here + 1} {
			if h[j].Frame != nil && h[j].field == h[here].field.other() {
				p.near = append(p.near, samples(h[j]))
			}
		}
		for j := range len(h) - 2 {
			if h.alike(j, j+2) {
				pair := [2]frame.Image[T]{samples(h[j]), samples(h[j+2])}
				if h[j].field == h[here].field {
					p.same = append(p.same, pair)
				} else {
					p.between = append(p.between, pair)
				}
			}
		}
		p.fill(workers)
	}
}

// filler fills the lines of a plane that a field leaves out.
type filler[T frame.Sample] struct {
	plane frame.Image[T]
	own   int                 // the first line of the field
	near  []frame.Image[T]    // which have the lines between at moments nearby
	same  [][2]frame.Image[T] // of different moments, in which the field's own lines can be compared
	// between are those in which the lines between can be.
	between [][2]frame.Image[T]
	unit    int32 // a grey level
	max     int32
}

func (p *filler[T]) fill(workers frame.Workers) {
	lines := (p.plane.Height + p.own) / 2 // that are left out
	changes := frame.NewImage[T](p.plane.Width, lines)
	weave := len(p.near) > 0 && len(p.same)+len(p.between) > 0
	if weave {
		workers.Rows(lines, func(k0, k1 int) {
			for k := k0; k < k1; k++ {
				p.compare(changes.Row(k), p.line(k))
			}
		})
	}
	workers.Rows(lines, func(k0, k1 int) {
		for k := k0; k < k1; k++ {
			p.interpolate(p.line(k))
			if weave {
				p.mix(changes, k)
			}
		}
	})
}

// line returns where line k of those left out lies.
func (p *filler[T]) line(k int) int { return 2*k + 1 - p.own }

// row returns the field's own line nearest to y.
func (p *filler[T]) row(y int) []T {
	last := p.own + (p.plane.Height-1-p.own)/2*2
	return p.plane.Row(min(max(y, p.own), max(last, p.own)))
}

// interpolate fills line y from the field's own.
func (p *filler[T]) interpolate(y int) {
	if p.plane.Height == 1 {
		return
	}
	to := p.plane.Row(y)
	a, b, c, d := p.row(y-3), p.row(y-1), p.row(y+1), p.row(y+3)
	for x := range to {
		v := (9*(int32(b[x])+int32(c[x])) - int32(a[x]) - int32(d[x]) + 8) >> 4
		to[x] = T(min(max(v, 0), p.max))
	}
}

// compare sets to to the largest change at line y and the lines next to it.
func (p *filler[T]) compare(to []T, y int) {
	add := func(pair [2]frame.Image[T], y int) {
		if y < 0 || y >= p.plane.Height {
			return
		}
		a, b := pair[0].Row(y), pair[1].Row(y)
		for x := range to {
			d := max(a[x], b[x]) - min(a[x], b[x])
			to[x] = max(to[x], d)
		}
	}
	for _, pair := range p.between {
		add(pair, y)
	}
	for _, pair := range p.same {
		add(pair, y-1)
		add(pair, y+1)
	}
}

// mix mixes into line k of those left out what the fields nearby have there, as far as nothing moves.
func (p *filler[T]) mix(changes frame.Image[T], k int) {
	const steps = movesFrom - stillBelow
	y := p.line(k)
	to, at := p.plane.Row(y), changes.Row(k)
	above, below := changes.Row(max(k-1, 0)), changes.Row(min(k+1, changes.Height-1))
	first := p.near[0].Row(y)
	second := p.near[len(p.near)-1].Row(y)
	for x := range to {
		var change T
		for i := max(x-1, 0); i <= min(x+1, len(to)-1); i++ {
			change = max(change, above[i], at[i], below[i])
		}
		w := min(movesFrom-(int32(change)+p.unit-1)/p.unit, steps)
		if w <= 0 {
			continue
		}
		near := (int32(first[x]) + int32(second[x]) + 1) / 2
		to[x] = T((int32(to[x])*(steps-w) + near*w + steps/2) / steps)
	}
}
