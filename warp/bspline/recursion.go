package bspline

// initCausal computes the output before subregion r: Σ z^i s(a-1-i), where a is the first sample of
// the subregion and the truncation index limits the number of terms (Briand and Davy, equation 19).
// It sums from the far end, by the recursion itself.
func (t *tile[T]) initCausal(q PoleFilter[T], b Boundary, r int) {
	t.carry[r] = [lanes]T{}
	c := &t.carry[r]
	i := r*Region - q.N
	for length := t.length(); i < 0; i++ {
		j := b.Index(i, length)
		follow(t.samples(j, j+1), q.Z, c)
	}
	follow(t.samples(i, r*Region), q.Z, c)
}

// initEveryCausal runs initCausal for all subregions.
func (t *tile[T]) initEveryCausal(q PoleFilter[T], b Boundary) {
	t.initCausal(q, b, 0)
	if t, ok := any(t).(*tile[float32]); ok {
		loops.startCausal(t, float32(q.Z), q.N)
		return
	}
	startCausal(t, q.Z, q.N)
}

// causal applies equation 15 to subregion r.
func (t *tile[T]) causal(q PoleFilter[T], r int) {
	causal(t.samples(r*Region, t.end(r)), q.Z, &t.carry[r])
}

// everyCausal applies equation 15 to all subregions.
func (t *tile[T]) everyCausal(q PoleFilter[T]) {
	if t, ok := any(t).(*tile[float32]); ok {
		loops.causal(t, float32(q.Z))
		return
	}
	everyCausal(t, q.Z)
}

// initAnticausal computes the output after subregion r. Inside the signal, it runs the recursion
// over as many samples as the truncation index says, starting from zero (equation 20, in terms of
// the causal filter's output). If those samples would reach beyond the end, the recursion starts
// from the exact value at the end. The last subregion gets its own last output.
func (t *tile[T]) initAnticausal(q PoleFilter[T], b Boundary, r int) {
	t.carry[r] = [lanes]T{}
	c := &t.carry[r]
	end, length := t.end(r), t.length()
	if end+q.N < length {
		followBack(t.samples(end, end+q.N), q.Z, c)
		return
	}
	t.borderAnticausal(q, b, c)
	if end < length {
		followBack(t.samples(end, length-1), q.Z, c)
	}
}

// initEveryAnticausal runs initAnticausal for all subregions.
func (t *tile[T]) initEveryAnticausal(q PoleFilter[T], b Boundary) {
	// This many subregions start from samples inside the signal.
	inside := max(0, t.length()-q.N-1) / Region
	for r := inside; r < len(t.carry); r++ {
		t.initAnticausal(q, b, r)
	}
	if t, ok := any(t).(*tile[float32]); ok {
		loops.startAnticausal(t, float32(q.Z), q.N, inside)
		return
	}
	startAnticausal(t, q.Z, q.N, inside)
}

// borderAnticausal computes the last output of the signal (table 3).
func (t *tile[T]) borderAnticausal(q PoleFilter[T], b Boundary, c *[lanes]T) {
	length := t.length()
	last := t.samples(length-1, length)
	switch b {
	case Periodic:
		for i := q.N - 1; i >= 0; i-- {
			j := i % length
			follow(t.samples(j, j+1), q.Z, c)
		}
		for j, s := range last {
			c[j] = T(-q.Z * T(s+T(q.Z*c[j])))
		}
	case WholeSymmetric:
		before := last
		if length > 1 {
			before = t.samples(length-2, length-1)
		}
		for j, s := range last {
			c[j] = T(q.Border * T(s+T(q.Z*before[j])))
		}
	default:
		for j, s := range last {
			c[j] = T(q.Border * s)
		}
	}
}

// anticausal applies equation 18 to subregion r.
func (t *tile[T]) anticausal(q PoleFilter[T], r int) {
	end := t.end(r)
	if end == t.length() {
		end = t.setLast()
	}
	anticausal(t.samples(r*Region, end), q.Z, &t.carry[r])
}

// setLast sets the last sample to the output given for its subregion, and returns its index.
func (t *tile[T]) setLast() int {
	end := t.length() - 1
	for j, h := range t.carry[len(t.carry)-1] {
		t.pix[end*lanes+j] = h
	}
	return end
}

// everyAnticausal applies equation 18 to all subregions.
func (t *tile[T]) everyAnticausal(q PoleFilter[T]) {
	end := t.setLast()
	if t, ok := any(t).(*tile[float32]); ok {
		loops.anticausal(t, float32(q.Z), end)
		return
	}
	everyAnticausal(t, q.Z, end)
}

// The functions below run the recursions over consecutive samples of every lane, eight lanes at a
// time in registers. follow and followBack compute only the last output.

// causal replaces s(i) by s(i) + z s(i-1); c is the sample before the first.
func causal[T Float](s []T, z T, c *[lanes]T) {
	for k := 0; k < lanes; k += half {
		c := (*[half]T)(c[k:])
		c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
		for i := k; i+half <= len(s); i += lanes {
			v := (*[half]T)(s[i : i+half : i+half])
			c0 = v[0] + T(z*c0)
			c1 = v[1] + T(z*c1)
			c2 = v[2] + T(z*c2)
			c3 = v[3] + T(z*c3)
			c4 = v[4] + T(z*c4)
			c5 = v[5] + T(z*c5)
			c6 = v[6] + T(z*c6)
			c7 = v[7] + T(z*c7)
			v[0], v[1], v[2], v[3] = c0, c1, c2, c3
			v[4], v[5], v[6], v[7] = c4, c5, c6, c7
		}
	}
}

// follow sets c to the last output that causal would write.
func follow[T Float](s []T, z T, c *[lanes]T) {
	for k := 0; k < lanes; k += half {
		c := (*[half]T)(c[k:])
		c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
		for i := k; i+half <= len(s); i += lanes {
			v := (*[half]T)(s[i : i+half : i+half])
			c0 = v[0] + T(z*c0)
			c1 = v[1] + T(z*c1)
			c2 = v[2] + T(z*c2)
			c3 = v[3] + T(z*c3)
			c4 = v[4] + T(z*c4)
			c5 = v[5] + T(z*c5)
			c6 = v[6] + T(z*c6)
			c7 = v[7] + T(z*c7)
		}
		c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7] = c0, c1, c2, c3, c4, c5, c6, c7
	}
}

// anticausal replaces s(i) by z (s(i+1) - s(i)), from the last sample to the first; c
// is the sample after the last.
func anticausal[T Float](s []T, z T, c *[lanes]T) {
	for k := 0; k < lanes; k += half {
		c := (*[half]T)(c[k:])
		c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
		for i := len(s) - lanes + k; i >= 0; i -= lanes {
			v := (*[half]T)(s[i : i+half : i+half])
			c0 = z * T(c0-v[0])
			c1 = z * T(c1-v[1])
			c2 = z * T(c2-v[2])
			c3 = z * T(c3-v[3])
			c4 = z * T(c4-v[4])
			c5 = z * T(c5-v[5])
			c6 = z * T(c6-v[6])
			c7 = z * T(c7-v[7])
			v[0], v[1], v[2], v[3] = c0, c1, c2, c3
			v[4], v[5], v[6], v[7] = c4, c5, c6, c7
		}
	}
}

// followBack sets c to the first output that anticausal would write.
func followBack[T Float](s []T, z T, c *[lanes]T) {
	for k := 0; k < lanes; k += half {
		c := (*[half]T)(c[k:])
		c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
		for i := len(s) - lanes + k; i >= 0; i -= lanes {
			v := (*[half]T)(s[i : i+half : i+half])
			c0 = z * T(c0-v[0])
			c1 = z * T(c1-v[1])
			c2 = z * T(c2-v[2])
			c3 = z * T(c3-v[3])
			c4 = z * T(c4-v[4])
			c5 = z * T(c5-v[5])
			c6 = z * T(c6-v[6])
			c7 = z * T(c7-v[7])
		}
		c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7] = c0, c1, c2, c3, c4, c5, c6, c7
	}
}
