package warp

import (
	"errors"
	"math"
)

// Similarity is a motion of the plane that keeps shapes: a shift, with several arrows also a turn and
// a change of size. Positions are in pixels from the picture's upper left corner, so that the first
// pixel's centre is at 0.5, 0.5.
type Similarity struct {
	from, to complex128 // a place before and after the motion
	turn     complex128 // factor of the distance from it
}

// maxZoom bounds by how much a Similarity may change sizes.
const maxZoom = 16

// NewSimilarity returns the similarity that fits arrows best, by least squares. An arrow has the place
// where it begins, x and y, and that where it ends. One arrow makes a shift.
func NewSimilarity(arrows [][4]float64) (Similarity, error) {
	s := Similarity{turn: 1}
	if len(arrows) == 0 {
		return s, errors.New("there is no arrow")
	}
	share := complex(1/float64(len(arrows)), 0)
	for _, a := range arrows {
		s.from += complex(a[0], a[1])
		s.to += complex(a[2], a[3])
	}
	s.from, s.to = product(s.from, share), product(s.to, share)
	if len(arrows) == 1 {
		return s, nil
	}
	var sum complex128
	var spread float64
	for _, a := range arrows {
		p, q := complex(a[0], a[1])-s.from, complex(a[2], a[3])-s.to
		sum += product(complex(real(p), -imag(p)), q)
		spread += square(p)
	}
	if spread == 0 {
		return s, errors.New("all arrows begin at one place")
	}
	s.turn = complex(real(sum)/spread, imag(sum)/spread)
	if zoom := square(s.turn); !(zoom >= 1./(maxZoom*maxZoom) && zoom <= maxZoom*maxZoom) {
		return s, errors.New("the arrows change the size too much")
	}
	return s, nil
}

// at returns the part of s until a phase: its places go straight, and its turn is even.
func (s Similarity) at(phase Phase) Similarity {
	switch phase {
	case 0:
		return Similarity{s.from, s.from, 1}
	case PhaseOne:
		return s
	}
	t := float64(phase) / PhaseOne
	part := Similarity{s.from, s.from + product(complex(t, 0), s.to-s.from), 1}
	root := s.turn
	for bit := Phase(PhaseOne / 2); bit > 0 && s.turn != 1; bit /= 2 {
		if root = squareRoot(root); phase&bit != 0 {
			part.turn = product(part.turn, root)
		}
	}
	return part
}

// move returns where the place p goes.
func (s Similarity) move(p complex128) complex128 { return s.to + product(s.turn, p-s.from) }

// Move returns where a place goes, x and y.
func (s Similarity) Move(p [2]float64) [2]float64 {
	q := s.move(complex(p[0], p[1]))
	return [2]float64{real(q), imag(q)}
}

// inverse returns the way back.
func (s Similarity) inverse() Similarity {
	n := square(s.turn)
	return Similarity{s.to, s.from, complex(real(s.turn)/n, -imag(s.turn)/n)}
}

// product returns a b, with the same bits on every machine.
func product(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// square returns |a|².
func square(a complex128) float64 { return float64(real(a)*real(a)) + float64(imag(a)*imag(a)) }

// squareRoot returns the root of a in the right half of the plane.
func squareRoot(a complex128) complex128 {
	r := math.Sqrt(square(a))
	re := math.Sqrt(max((r+real(a))/2, 0))
	im := math.Sqrt(max((r-real(a))/2, 0))
	if imag(a) < 0 {
		im = -im
	}
	return complex(re, im)
}
