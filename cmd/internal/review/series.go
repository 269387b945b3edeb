package review

import (
	"context"
	"net/http"

	"retime/pipeline/fault"
)

// serveRenderAll begins to render all clips of a batch, one after another.
func (s *Server) serveRenderAll(w http.ResponseWriter, r *http.Request) {
	var none struct{}
	err := readRequest(r, &none)
	if err == nil {
		err = s.startSeries()
	}
	if err != nil {
		s.refuse(w, r, err)
	}
}

// serveCancelAll stops that; parts that are whole stay.
func (s *Server) serveCancelAll(w http.ResponseWriter, r *http.Request) {
	var none struct{}
	if err := readRequest(r, &none); err != nil {
		s.refuse(w, r, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelSeries != nil {
		s.cancelSeries()
	}
}

// startSeries begins to render the clips. Until the last has ended, one of them is running.
func (s *Server) startSeries() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelSeries != nil {
		return fault.New(fault.TryAgain, "the clips are being rendered")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancelSeries = cancel
	s.options.Clips[0].become("running", "")
	go func() {
		defer cancel()
		for n, on := 0, true; on; n++ {
			s.hub.send(listTab, "clips", s.list())
			state, problem := s.renderOne(ctx, n)
			on = s.goOn(n, state, problem, ctx.Err() != nil)
		}
		s.hub.send(listTab, "clips", s.list())
		s.hub.rest()
	}()
	return nil
}

// goOn notes how a clip of the series has ended, and reports whether the next one is rendered.
func (s *Server) goOn(n int, state, problem string, cancelled bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	clips := s.options.Clips
	clips[n].become(state, problem)
	if n+1 == len(clips) || cancelled {
		s.cancelSeries = nil
		return false
	}
	clips[n+1].become("running", "")
	return true
}

// become changes what the list says of a clip.
func (c *Clip) become(state, problem string) { c.State, c.Problem = state, problem }

// inSeries reports whether the clips are rendered one after another.
func (s *Server) inSeries() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancelSeries != nil
}

// renderOne renders a clip, and returns its state then, with the problem if there was one.
func (s *Server) renderOne(ctx context.Context, n int) (state, problem string) {
	c, err := s.use(n)
	if err != nil {
		return "failed", s.options.Message(err)
	}
	defer s.leave(c)
	if err := c.startRender(false); err != nil && !c.rendering() {
		return "failed", s.options.Message(err)
	}
	stop := context.AfterFunc(ctx, c.stopRender)
	defer stop()
	c.renders.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r := c.render; {
	case r.Exists:
		return "pending", r.Output + " exists; open the clip to overwrite it"
	case r.State == "cancelled":
		return "pending", ""
	default:
		return r.State, r.Error
	}
}
