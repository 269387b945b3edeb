package work

import (
	"fmt"
	"path/filepath"
	"time"

	"retime/cmd/retime-farm/internal/job"
)

// follower watches a share while a program makes it, by looking for the manifests in the segments'
// directory.
type follower struct {
	root  Root
	dir   string
	share job.Share
	began time.Time
	was   []bool // ranges of the share that existed at the start
	done  int    // existing ranges, from the share's first on
}

// follow returns a follower for a share that begins now.
func (w *Worker) follow(s job.Share) (*follower, error) {
	dir, err := w.Root.rel(filepath.Join(s.Clip.Work(), "plan.segments"))
	if err != nil {
		return nil, err
	}
	f := &follower{root: w.Root, dir: dir, share: s, was: make([]bool, s.Count), began: time.Now()}
	for i := range f.was {
		f.was[i] = f.there(i)
	}
	return f, nil
}

// there reports whether range i of the share is made.
func (f *follower) there(i int) bool {
	_, err := f.root.Stat(filepath.Join(f.dir, fmt.Sprintf("%06d.json", f.share.First+i)))
	return err == nil
}

// look returns the number of existing ranges, and whether the share ends here because it has taken
// its time and a range has just been finished.
func (f *follower) look() (done int, enough bool) {
	before := f.done
	for f.done < len(f.was) && f.there(f.done) {
		f.done++
	}
	return f.done, f.done > before && f.share.Enough(time.Since(f.began), f.fresh(f.done), len(f.was)-f.done)
}

// fresh returns how many of the share's first n ranges did not exist at the start.
func (f *follower) fresh(n int) (fresh int) {
	for _, was := range f.was[:n] {
		if !was {
			fresh++
		}
	}
	return fresh
}
