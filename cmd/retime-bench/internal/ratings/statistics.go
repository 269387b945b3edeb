package ratings

import (
	"cmp"
	"image"
	"math"
	"slices"
)

// rated is a made frame with its rating and the truth.
type rated struct {
	frame  int64
	score  float64
	box    image.Rectangle // of the rating
	inside float64         // error in the box, in grey levels RMS
	error  float64         // of the worst square
	at     image.Rectangle // the worst square
}

// tally counts what ratings found.
type tally struct {
	found, sought  int // of the worst frames
	squares, shown int // wrong ones among the boxes of the lowest frames
	over           int // worst frames whose box lies over the worst square
	errors         []float64
}

func (t *tally) add(o tally) {
	t.found, t.sought = t.found+o.found, t.sought+o.sought
	t.squares, t.shown = t.squares+o.squares, t.shown+o.shown
	t.over, t.errors = t.over+o.over, append(t.errors, o.errors...)
}

func worstOf(list []rated) []rated {
	s := slices.SortedStableFunc(slices.Values(list), func(a, b rated) int { return cmp.Compare(b.error, a.error) })
	return s[:min(worst, len(s))]
}

func lowestOf(list []rated, n int) []rated {
	s := slices.SortedStableFunc(slices.Values(list), func(a, b rated) int { return cmp.Compare(a.score, b.score) })
	return s[:min(n, len(s))]
}

// rankOf returns the place of r in a list from the lowest score on, from 1.
func rankOf(list []rated, r rated) int {
	return 1 + slices.IndexFunc(lowestOf(list, len(list)), func(o rated) bool { return o.frame == r.frame })
}

func count(list []rated) (t tally) {
	for _, r := range worstOf(list) {
		t.sought++
		if rankOf(list, r) <= lowest {
			t.found++
		}
		if r.box.Overlaps(r.at) {
			t.over++
		}
	}
	for _, r := range lowestOf(list, boxes) {
		t.shown++
		t.errors = append(t.errors, r.inside)
		if r.inside > wrong {
			t.squares++
		}
	}
	return t
}

// doubts returns the share of doubtful frames that are wrong, and of wrong ones that are doubtful.
func doubts(list []rated) (precision, recall float64) {
	var doubted, bad, both float64
	for _, r := range list {
		d, w := r.score < doubtful, r.error > wrong
		if d {
			doubted++
		}
		if w {
			bad++
		}
		if d && w {
			both++
		}
	}
	return both / doubted, both / bad
}

// correlation returns Spearman's rank correlation of low scores with large errors.
func correlation(list []rated) float64 {
	rank := func(less func(a, b rated) int) map[int]float64 {
		order := make([]int, len(list))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return less(list[i], list[j]) })
		ranks := map[int]float64{}
		for r, i := range order {
			ranks[i] = float64(r)
		}
		return ranks
	}
	low := rank(func(a, b rated) int { return cmp.Compare(b.score, a.score) })
	bad := rank(func(a, b rated) int { return cmp.Compare(a.error, b.error) })
	n := float64(len(list))
	var sum float64
	for i := range list {
		sum += (low[i] - bad[i]) * (low[i] - bad[i])
	}
	return 1 - 6*sum/(n*(n*n-1))
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
