package streams

import (
	"cmp"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/timebase"
)

// nanosecond is the time base of the output's chapters.
var nanosecond = astiav.NewRational(1, 1e9)

// addChapters adds each of the source's chapters to the output, at the time at which the
// output first shows it, in the order of these times.
func (s *Set) addChapters() error {
	chapters := av.Chapters(s.source.Input)
	if len(chapters) > 0 && !container.HoldsChapters(s.out) {
		s.log.Warn("chapters left out: the container does not take them", "chapters", len(chapters), "container", container.Name(s.out))
		return nil
	}
	type placed struct {
		number int
		at     av.Chapter
	}
	var list []placed
	runs := s.opt.Curve.Runs()
	for i, ch := range chapters {
		begin, end := s.sinceStart(ch.Start, ch.TimeBase), s.sinceStart(max(ch.End, ch.Start), ch.TimeBase)
		for r := range runs {
			from, to, shown := s.shown(&runs[r], begin, end)
			if !shown {
				continue
			}
			list = append(list, placed{i, av.Chapter{Start: timebase.Ticks(from, nanosecond), End: timebase.Ticks(to, nanosecond), TimeBase: nanosecond}})
			break
		}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.at.Start, b.at.Start) })
	for _, c := range list {
		if err := av.CopyChapter(s.out, s.source.Input, c.number, c.at); err != nil {
			return err
		}
	}
	return nil
}
