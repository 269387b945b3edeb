package main

// vec is a point or a direction.
type vec [3]float64

func (a vec) sub(b vec) vec { return vec{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func (a vec) cross(b vec) vec {
	return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// mesh is a surface of triangles. Seen from the side of larger values, their corners run clockwise.
type mesh struct {
	vertices  []vec
	triangles [][3]int
}

// The bits of i are the coordinates of a cube's corner i. The corners of its faces run
// counter-clockwise, seen from outside.
var faces = [6][4]int{{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}

// edge is a cube's edge, given by its corners, the smaller first.
type edge [2]int

func edgeOf(a, b int) edge { return edge{min(a, b), max(a, b)} }

// loops returns the polygons that separate the corners whose bits are set in inside from the
// others, given by the edges that they cross. On each face, a segment cuts off each run of inside
// corners, so that neighbouring cubes agree on their common face, and the segments of all faces
// join into loops.
func loops(inside int) [][]edge {
	next := map[edge]edge{}
	for _, f := range faces {
		for i := range f {
			in := func(k int) bool { return inside>>f[(i+k)%4]&1 == 1 }
			if !in(0) || in(3) {
				continue // no run begins here
			}
			last := 0
			for last < 3 && in(last+1) {
				last++
			}
			enter := edgeOf(f[(i+3)%4], f[i])
			leave := edgeOf(f[(i+last)%4], f[(i+last+1)%4])
			next[leave] = enter
		}
	}
	var list [][]edge
	for corner := range 8 {
		for bit := range 3 {
			start := edgeOf(corner, corner^1<<bit)
			if _, ok := next[start]; !ok {
				continue
			}
			var loop []edge
			for e := start; ; {
				to, ok := next[e]
				if !ok {
					break
				}
				delete(next, e)
				loop = append(loop, e)
				e = to
			}
			list = append(list, loop)
		}
	}
	return list
}

// march returns the surface on which a function has the value iso, by marching cubes (Lorensen and
// Cline, 1987) over its values on a grid of n points with steps of h. layer sets dst to the values
// of layer z.
func march(n [3]int, h, iso float64, layer func(z int, dst []float64)) mesh {
	var table [256][][]edge
	for i := range table {
		table[i] = loops(i)
	}
	var m mesh
	size := n[0] * n[1]
	values := [2][]float64{make([]float64, size), make([]float64, size)}
	layer(0, values[0])
	known := map[[2]int]int{} // the vertices on edges, by the numbers of the edges' grid points
	for z := range n[2] - 1 {
		layer(z+1, values[1])
		for y := range n[1] - 1 {
			for x := range n[0] - 1 {
				var v [8]float64
				inside := 0
				for c := range v {
					v[c] = values[c>>2][(y+c>>1&1)*n[0]+x+c&1]
					if v[c] >= iso {
						inside |= 1 << c
					}
				}
				for _, loop := range table[inside] {
					m.polygon(loop, known, n, [3]int{x, y, z}, v, h, iso)
				}
			}
		}
		values[0], values[1] = values[1], values[0]
	}
	return m
}

// polygon adds a loop as a fan of triangles.
func (m *mesh) polygon(loop []edge, known map[[2]int]int, n, at [3]int, v [8]float64, h, iso float64) {
	corner := func(c int) (p vec, number int) {
		q := [3]int{at[0] + c&1, at[1] + c>>1&1, at[2] + c>>2}
		return vec{float64(q[0]) * h, float64(q[1]) * h, float64(q[2]) * h}, (q[2]*n[1]+q[1])*n[0] + q[0]
	}
	ids := make([]int, len(loop))
	for i, e := range loop {
		a, na := corner(e[0])
		b, nb := corner(e[1])
		id, ok := known[[2]int{na, nb}]
		if !ok {
			t := (iso - v[e[0]]) / (v[e[1]] - v[e[0]])
			for k := range a {
				a[k] += t * (b[k] - a[k])
			}
			id = len(m.vertices)
			known[[2]int{na, nb}] = id
			m.vertices = append(m.vertices, a)
		}
		ids[i] = id
	}
	for i := 2; i < len(ids); i++ {
		m.triangles = append(m.triangles, [3]int{ids[0], ids[i-1], ids[i]})
	}
}
