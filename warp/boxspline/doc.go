// Package boxspline holds box splines and sums of them in rational arithmetic: their values,
// computed in three independent ways, their polynomials, knot planes and smoothness, and the
// elements that this module evaluates, each on its lattice.
//
// A box spline is the convolution of segments along its directions. On a lattice, its shifts span a
// space of smooth functions that reproduces polynomials; a function in the space is Σ c_n φ(x - n)
// over the points n of the lattice.
//
// Nothing here is fast. Subpackage compile derives a program without branches from an element, as
// in J. Horacsek, "Fast Spline Evaluation" (2020), and package fast holds what it generates.
// Package generic evaluates any element on any lattice, prefilter finds coefficients, and plane
// samples pictures.
//
// Sources: C. de Boor, K. Höllig and S. Riemenschneider, "Box Splines" (1993);
// J. Horacsek and U. Alim, "A closed PP form of box splines via Green's function
// decomposition" (2019).
package boxspline

//go:generate go run ./compile -root ../..
