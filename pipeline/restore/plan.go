package restore

import (
	"slices"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// made describes a picture to make.
type made struct {
	frame   int64 // number in the output
	source  int64 // -1 for an inserted frame
	field   Field
	finding Finding
	areas   []Rectangle // that are replaced; nil for all
}

// repairPlan is the result of planRepairs.
type repairPlan struct {
	repairs repairs
	made    map[int64]made // by the number of the output's picture
	frames  int64          // frames of the output of which at least a part is made
	tooLong []Finding
}

// decisions returns how the findings want their pictures made.
func (p *repairPlan) decisions() (list []pipeline.Decision) {
	for k, m := range p.made {
		if m.finding.Method != "" {
			list = append(list, pipeline.Decision{Frame: k, Method: m.finding.Method})
		}
	}
	return list
}

func (p *repairPlan) entry(m made, r pipeline.Record) Entry {
	e := Entry{
		Frame: m.frame, Source: m.source, Time: r.Time, Kind: m.finding.Kind, Score: m.finding.Score, Part: Part{len(m.finding.Regions) > 0, m.areas}, Field: m.field,
		Phase: r.Phase, Method: r.Method, Confidence: r.Confidence, Holes: r.Holes, Error: r.Error, Cut: r.Cut,
	}
	for _, n := range r.Sources {
		q := picture{frame: n}
		if n < int64(len(p.repairs.pictures)) { // or the input has grown
			q = p.repairs.pictures[n]
		}
		e.Neighbours = append(e.Neighbours, q.frame)
		if q.field != BothFields {
			e.NeighbourFields = append(e.NeighbourFields, q.field)
		}
	}
	return e
}

// damage is what is wrong with an input, by the numbers of its parts: of frames, or of fields in the
// order of time, two of which make a frame.
type damage struct {
	bad     map[int64]Finding // damage to a whole picture overrides damage to a part of it
	regions map[int64][]*Region
	inserts map[int64]Finding // frames that come after a part
	parts   int64             // that a frame has
}

// collect gathers the findings.
func (s *inputScan) collect() (*damage, error) {
	d := &damage{bad: map[int64]Finding{}, regions: map[int64][]*Region{}, inserts: map[int64]Finding{}, parts: s.parts()}
	for i := range s.findings {
		f := &s.findings[i]
		first, last, err := s.span(f)
		if err != nil {
			return nil, err
		}
		switch {
		case !f.Repaired():
			continue
		case f.Insert > 0:
			d.inserts[(last+1)*d.parts-1] = *f
			continue
		}
		for n := first * d.parts; n < (last+1)*d.parts; n++ {
			if f.First.Field != BothFields && f.First.Field != s.field(n) {
				continue
			}
			if old, ok := d.bad[n]; !ok || len(f.Regions) == 0 && len(old.Regions) > 0 {
				d.bad[n] = *f
			}
			d.regions[n] = append(d.regions[n], f.Regions...)
		}
	}
	return d, nil
}

// planRepairs turns the findings into repairs.
func (s *inputScan) planRepairs(o *Options) (*repairPlan, error) {
	for i := range s.findings {
		if f, mode := &s.findings[i], o.Convert.Synthesis.Mode; !f.madeBy(mode) {
			return nil, fault.New(fault.Usage, "%v: method %s: Synthesis.Mode %s makes no such frames; leave out one of them", f.First, f.Method, mode)
		}
	}
	d, err := s.collect()
	if err != nil {
		return nil, err
	}
	p := &repairPlan{made: map[int64]made{}}
	p.tooLong = d.dropLong(o.MaxRun)
	if len(d.bad) == len(s.stamps)*int(d.parts) {
		kind := fault.Usage
		if o.Detect { // the user has not named them
			kind = fault.BadData
		}
		return nil, fault.New(kind, "all %d frames are damaged; none is left to make them from", len(s.stamps))
	}
	inserted := map[int64]int{}
	for n, f := range d.inserts {
		inserted[n/d.parts] = f.Insert
	}
	p.repairs.numbers = s.outputNumbers(inserted)
	p.repairs.delivery, p.repairs.pictures = s.deliver(d, s.stamps)
	s.schedule(p, d)
	return p, nil
}

// schedule sets the pictures to make.
func (s *inputScan) schedule(p *repairPlan, d *damage) {
	drawn := masks{width: s.video.Width, height: s.video.Height, drawn: map[string]*frame.Image[uint8]{}}
	var out, count int64 // pictures, and frames, of the output
	last := int64(-1)
	add := func(m made) {
		if m.frame = count; m.frame != last {
			p.frames++
			last = m.frame
		}
		p.made[out] = m
	}
	for n := range int64(len(s.stamps)) {
		pictures, _ := p.repairs.of(n)
		for i := range pictures {
			q := &pictures[i]
			if f, field, ok := s.lost(d, q); ok {
				m := made{source: n, field: field, finding: f}
				q.lost = true
				if len(f.Regions) > 0 {
					regions := d.regions[q.from]
					if q.to-1 > q.from {
						regions = slices.Concat(regions, d.regions[q.to-1])
					}
					q.mask = drawn.of(regions)
					m.areas = boxes(regions, s.video.Width, s.video.Height)
				}
				add(m)
			}
			out++
		}
		count++
		f, ok := d.inserts[(n+1)*d.parts-1]
		if !ok {
			continue
		}
		pictures[len(pictures)-1].insert = f.Insert * len(pictures)
		for range f.Insert {
			for _, q := range pictures {
				add(made{source: -1, field: q.field, finding: f})
				out++
			}
			count++
		}
	}
}

// boxes returns the boxes of regions, each of them once.
func boxes(regions []*Region, width, height int) (all []Rectangle) {
	for _, r := range regions {
		if b := r.box(width, height); !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

// lost returns what is wrong with q, and the field that is lost of it.
func (s *inputScan) lost(d *damage, q *picture) (f Finding, field Field, lost bool) {
	for n := q.from; n < q.to; n++ {
		g, bad := d.bad[n]
		switch {
		case !bad:
			continue
		case lost:
			field = BothFields
		default:
			field = s.field(n)
		}
		if !lost || len(f.Regions) > 0 && len(g.Regions) == 0 {
			f = g
		}
		lost = true
	}
	return f, field, lost
}

// dropLong removes the runs of more than limit frames, and returns them.
func (d *damage) dropLong(limit int) (tooLong []Finding) {
	var numbers []int64
	for n := range d.bad {
		numbers = append(numbers, n)
	}
	for n := range d.inserts {
		if _, ok := d.bad[n]; !ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for i := 0; i < len(numbers); {
		j, length := i, int64(0)
		for ; j < len(numbers); j++ {
			n := numbers[j]
			_, lost := d.bad[n]
			// A picture that stays ends a run, even if frames are missing after it.
			if j > i && (n != numbers[j-1]+1 || !lost) {
				break
			}
			if lost {
				length++
			}
			length += int64(d.inserts[n].Insert) * d.parts
		}
		if length > int64(limit)*d.parts {
			first, last := Place{Number: numbers[i] / d.parts}, Place{Number: numbers[j-1] / d.parts}
			tooLong = append(tooLong, Finding{First: first, Last: last, Kind: Listed, Score: 1})
			for _, n := range numbers[i:j] {
				delete(d.bad, n)
				delete(d.inserts, n)
			}
		}
		i = j
	}
	return tooLong
}
