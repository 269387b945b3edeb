package plan

import "slices"

// coverBudget bounds the nodes that Cover visits for one number of look-ups.
const coverBudget = 200000

// Cover returns the fewest look-ups that cover each of n sites exactly once, by Knuth's Algorithm X
// with a growing bound on their number. least reports whether fewer are proven not to suffice; the
// search gives up on a number after coverBudget nodes.
func Cover(all []LookUp, n int) (chosen []LookUp, least bool) {
	c := coverer{all: all, having: make([][]int, n), covered: make([]bool, n)}
	for i, l := range all {
		c.largest = max(c.largest, len(l.Members))
		for _, m := range l.Members {
			c.having[m] = append(c.having[m], i)
		}
	}
	least = true
	for k := (n + c.largest - 1) / c.largest; ; k++ {
		c.budget, c.picked = coverBudget, nil
		if c.search(k, n) {
			for _, i := range c.picked {
				chosen = append(chosen, all[i])
			}
			return chosen, least
		}
		least = least && c.budget > 0
	}
}

type coverer struct {
	all     []LookUp
	having  [][]int // the look-ups that include a site
	covered []bool
	largest int
	picked  []int
	budget  int
}

// free reports whether a look-up includes no covered site.
func (c *coverer) free(i int) bool {
	return !slices.ContainsFunc(c.all[i].Members, func(m int) bool { return c.covered[m] })
}

// search covers the open sites with at most k look-ups, starting with the site that has the fewest
// possibilities.
func (c *coverer) search(k, open int) bool {
	if open == 0 {
		return true
	}
	if c.budget--; c.budget < 0 || open > k*c.largest {
		return false
	}
	best, fewest := -1, 1<<30
	for m, having := range c.having {
		if c.covered[m] {
			continue
		}
		n := 0
		for _, i := range having {
			if c.free(i) {
				n++
			}
		}
		if n < fewest {
			best, fewest = m, n
		}
	}
	for _, i := range c.having[best] {
		if !c.free(i) {
			continue
		}
		members := c.all[i].Members
		for _, m := range members {
			c.covered[m] = true
		}
		c.picked = append(c.picked, i)
		if c.search(k-1, open-len(members)) {
			return true
		}
		c.picked = c.picked[:len(c.picked)-1]
		for _, m := range members {
			c.covered[m] = false
		}
	}
	return false
}

// exactPath is the largest number of look-ups for which Order is provably shortest.
const exactPath = 13

// Order returns the order of look-ups that makes the path from the first to the last shortest: a
// shortest Hamiltonian path, by dynamic programming over sets for up to exactPath of them, and
// beyond that by improving the nearest-neighbour path. distance is measured between two look-ups.
func Order(n int, distance func(a, b int) int) []int {
	if n > exactPath {
		return improvedPath(n, distance)
	}
	const far = 1 << 30
	type state struct{ length, before int }
	table := make([][]state, 1<<n)
	for set := range table {
		table[set] = make([]state, n)
		for last := range n {
			table[set][last] = state{far, -1}
			if set == 1<<last {
				table[set][last].length = 0
			}
		}
	}
	for set := range table {
		for last, s := range table[set] {
			if s.length == far {
				continue
			}
			for next := range n {
				if set>>next&1 == 0 {
					t := &table[set|1<<next][next]
					if l := s.length + distance(last, next); l < t.length {
						*t = state{l, last}
					}
				}
			}
		}
	}
	set := 1<<n - 1
	last := 0
	for i, s := range table[set] {
		if s.length < table[set][last].length {
			last = i
		}
	}
	var path []int
	for last >= 0 && set != 0 {
		path = append(path, last)
		before := table[set][last].before
		set &^= 1 << last
		last = before
	}
	slices.Reverse(path)
	return path
}

// improvedPath always goes to the nearest look-up left, then reverses parts of the path while that
// shortens it.
func improvedPath(n int, distance func(a, b int) int) []int {
	path, left := []int{0}, map[int]bool{}
	for i := 1; i < n; i++ {
		left[i] = true
	}
	for len(left) > 0 {
		from, best := path[len(path)-1], -1
		for i := range n {
			if left[i] && (best < 0 || distance(from, i) < distance(from, best)) {
				best = i
			}
		}
		path = append(path, best)
		delete(left, best)
	}
	length := func(p []int) (sum int) {
		for i := 1; i < len(p); i++ {
			sum += distance(p[i-1], p[i])
		}
		return sum
	}
	for improved := true; improved; {
		improved = false
		for i := range n {
			for j := i + 2; j <= n; j++ {
				other := slices.Clone(path)
				slices.Reverse(other[i:j])
				if length(other) < length(path) {
					path, improved = other, true
				}
			}
		}
	}
	return path
}
