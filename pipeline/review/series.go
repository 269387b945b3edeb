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

func (s *Server) startSeries() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelSeries != nil {
		return fault.New(fault.TryAgain, "the clips are being rendered")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancelSeries = cancel
	go func() {
		defer cancel()
		for n := range s.options.Clips {
			if ctx.Err() != nil {
				break
			}
			s.describe(n, "running", "")
			state, problem := s.renderOne(ctx, n)
			s.describe(n, state, problem)
		}
		s.mu.Lock()
		s.cancelSeries = nil
		s.mu.Unlock()
		s.hub.send(listTab, "clips", s.list())
		s.hub.rest()
	}()
	return nil
}

// inSeries reports whether the clips are rendered one after another.
func (s *Server) inSeries() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancelSeries != nil
}

// describe changes what the list says of a clip.
func (s *Server) describe(n int, state, problem string) {
	s.mu.Lock()
	s.options.Clips[n].State, s.options.Clips[n].Problem = state, problem
	s.mu.Unlock()
	s.hub.send(listTab, "clips", s.list())
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
