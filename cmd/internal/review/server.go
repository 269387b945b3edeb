// Package review serves a page on which people see what a conversion made, say what is wrong
// with it, and render it again: a server on the loopback address, for one user's browser.
package review

import (
	"context"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"retime/cmd/internal/review/edits"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// Flag is a flag of the command line as a person gave it.
type Flag struct{ Name, Value string }

// word returns the flag as a word of a command line.
func (f Flag) word() string {
	if f.Value == "true" {
		return "--" + f.Name
	}
	return "--" + f.Name + "=" + f.Value
}

// Clip is what is reviewed.
type Clip struct {
	Conversion pipeline.Options // Output.File included, without what Files hold
	Files      edits.Files
	Flags      []Flag // that the command line needs to make the same
	// State is the state of a batch's clip, and Problem the error of one that failed; both
	// are empty outside a batch.
	State, Problem string
}

// Options configure a Server.
type Options struct {
	Clips []Clip
	// Batch is the name of the directory that the clips are from; empty for a single clip.
	Batch string
	// Restoration is reviewed if there are no Clips; nil for none.
	Restoration *Restoration
	// Message puts an error of the library into the user's words; nil for its own.
	Message func(error) string
	Program string   // version of the program, which segments are bound to
	Segment *big.Rat // length of the segments that are rendered, in seconds; nil for 5
	// Idle is how long after the last tab was closed the server ends; 0 for never.
	Idle time.Duration
	Log  *slog.Logger
}

// Server serves the page. New makes one.
type Server struct {
	options Options
	host    string // address and port
	token   string
	hub     *hub
	repairs *repairs // nil without a restoration
	listen  net.Listener
	stop    context.CancelFunc
	ctx     context.Context
	stirred atomic.Bool // a clip was edited or left since the scout looked

	renderer chan struct{} // holds an element while a clip is rendered: one at a time

	// mu guards the Clips' states, the entries' sessions and stores, and cancelSeries. Nothing
	// reads or writes a file while it is held.
	mu           sync.Mutex
	entries      []entry            // of the Clips
	cancelSeries context.CancelFunc // nil unless the clips are rendered one after another
}

// entry is what the server has of a clip.
type entry struct {
	opening sync.Mutex // held while the clip is opened; comes before the server's mu
	ratings ratings
	store   *edits.Store // nil until the clip was open
	session *session     // nil unless the clip is open
}

// New opens a single clip, so that what hinders that is told at once, and listens on a free port
// of the loopback address. Serve must follow.
func New(o Options) (*Server, error) {
	if len(o.Clips) == 0 && o.Restoration == nil {
		return nil, fault.New(fault.NoInput, "there is no clip to review")
	}
	if o.Message == nil {
		o.Message = error.Error
	}
	if o.Segment == nil {
		o.Segment = big.NewRat(5, 1)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fault.New(fault.TryAgain, "review: %w", err)
	}
	s := &Server{options: o, listen: l, host: l.Addr().String(), token: newToken(), entries: make([]entry, len(o.Clips)), renderer: make(chan struct{}, 1)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.hub = newHub(o.Idle, s.idle)
	if len(o.Clips) == 0 {
		s.repairs, err = openRepairs(s.ctx, o.Restoration)
	} else if o.Batch == "" {
		_, err = s.session(0)
	}
	if err != nil {
		l.Close()
		s.stop()
		return nil, err
	}
	return s, nil
}

// idle ends the server, unless a clip is rendered or a tab came back: then closing the last tab,
// or the end of the last rendering, asks again.
func (s *Server) idle() {
	for _, c := range s.open() {
		if c.rendering() {
			return
		}
	}
	if s.inSeries() {
		return
	}
	if !s.hub.watched() {
		s.stop()
	}
}

// URL is the address of the page, which whoever knows it may use.
func (s *Server) URL() string { return "http://" + s.host + "/" + s.token + "/" }

// Serve serves until ctx ends, or until no tab was open for a while and nothing is rendered. What
// was edited and rendered until then is on disk.
func (s *Server) Serve(ctx context.Context) error {
	if s.options.Batch != "" {
		go s.scout()
	}
	server := &http.Server{
		Handler: s.guard(s.routes()), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 1 << 15, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go s.watchFiles()
	go s.trimFlow()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listen) }()
	var err error
	select {
	case <-ctx.Done():
	case <-s.ctx.Done(): // idle
	case err = <-failed:
		err = fault.New(fault.Internal, "review: %w", err)
	}
	s.stop()
	s.hub.end()
	grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Shutdown(grace)
	_ = server.Close()
	for i := range s.entries {
		s.shut(&s.entries[i])
	}
	if s.repairs != nil {
		s.repairs.close()
	}
	return err
}

// watchFiles tells the tabs if somebody else changes a file of edits.
func (s *Server) watchFiles() {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		if !s.hub.watched() {
			continue
		}
		for _, c := range s.open() {
			c.noticeFiles()
		}
	}
}

// open returns the sessions that are open.
func (s *Server) open() (list []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.entries {
		if c := s.entries[i].session; c != nil {
			list = append(list, c)
		}
	}
	return list
}

// session returns the session of a clip, and opens it if it is not.
func (s *Server) session(n int) (*session, error) { return s.sessionFor(n, 0) }

// use is session for a request, during which the session stays open. leave must follow.
func (s *Server) use(n int) (*session, error) { return s.sessionFor(n, 1) }

// sessionFor is session for a number of requests. Opening takes seconds, for which only requests
// for the same clip wait.
func (s *Server) sessionFor(n, users int) (*session, error) {
	if n < 0 || n >= len(s.entries) {
		return nil, fault.New(fault.Usage, "there is no clip %d", n)
	}
	e := &s.entries[n]
	e.opening.Lock()
	defer e.opening.Unlock()
	if c := s.enter(e, users); c != nil {
		return c, nil
	}
	if s.ctx.Err() != nil { // shut follows, or was there
		return nil, fault.New(fault.TryAgain, "the review has ended")
	}
	c, err := newSession(s, n)
	if err != nil {
		return nil, err
	}
	c.users = users
	s.mu.Lock()
	defer s.mu.Unlock()
	e.session = c
	return c, nil
}

// enter adds users to a clip's session, and returns it; nil if it is not open.
func (s *Server) enter(e *entry, users int) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.session != nil {
		e.session.users += users
	}
	return e.session
}

func (s *Server) leave(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.users--
	s.stirred.Store(true) // what was stopped in it can go on when it is opened again
}

// shut closes a clip once the server has ended.
func (s *Server) shut(e *entry) {
	e.opening.Lock()
	defer e.opening.Unlock()
	s.mu.Lock()
	c := e.session
	e.session = nil
	s.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// routes returns what answers requests, behind the token.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serveHome)
	mux.HandleFunc("GET /static/{name}", serveAsset)
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) { s.hub.serve(w, r, listTab) })
	mux.HandleFunc("GET /clips", s.serveClips)
	mux.HandleFunc("POST /render", s.serveRenderAll)
	mux.HandleFunc("POST /cancel", s.serveCancelAll)
	if s.repairs != nil {
		s.repairRoutes(mux)
	}
	in := func(serve func(*session, http.ResponseWriter, *http.Request) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n, err := strconv.Atoi(r.PathValue("clip"))
			var c *session
			if err == nil {
				c, err = s.use(n)
			} else {
				err = fault.New(fault.Usage, "there is no such clip")
			}
			if err == nil {
				defer s.leave(c)
				err = serve(c, w, r)
			}
			if err != nil {
				s.refuse(w, r, err)
			}
		}
	}
	clip := func(pattern string, serve func(*session, http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(pattern, in(serve))
	}
	clip("GET /clip/{clip}/{$}", (*session).servePage)
	clip("GET /clip/{clip}/state", (*session).serveState)
	clip("GET /clip/{clip}/ratings", (*session).serveRatings)
	clip("GET /clip/{clip}/places", (*session).servePlaces)
	clip("GET /clip/{clip}/frame", (*session).serveFrame)
	mux.HandleFunc("GET /clip/{clip}/thumbnail", s.serveKnownThumbnail(in((*session).serveThumbnail)))
	clip("GET /clip/{clip}/between", (*session).serveBetween)
	clip("GET /clip/{clip}/sound", (*session).serveSound)
	clip("GET /clip/{clip}/why", (*session).serveWhy)
	clip("GET /clip/{clip}/drawing", (*session).serveDrawing)
	clip("GET /clip/{clip}/mask", (*session).serveMask)
	clip("GET /clip/{clip}/events", (*session).serveEvents)
	clip("POST /clip/{clip}/edit", (*session).serveEdit)
	clip("POST /clip/{clip}/render", (*session).serveRender)
	clip("POST /clip/{clip}/cancel", (*session).serveCancel)
	clip("POST /clip/{clip}/rate", (*session).serveRate)
	return mux
}

// refuse answers a request that failed.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var large *http.MaxBytesError
	switch kind := fault.KindOf(err); {
	case r.Context().Err() != nil:
		return // nobody waits for the answer
	case errors.As(err, &large):
		status, err = http.StatusRequestEntityTooLarge, errors.New("the request is too large")
	case errors.Is(err, edits.ErrElsewhere):
		status = http.StatusConflict
	case kind == fault.Usage || kind == fault.BadData:
		status = http.StatusBadRequest
	case kind == fault.TryAgain:
		status = http.StatusServiceUnavailable
	}
	answer(w, status, map[string]string{"error": s.options.Message(err)})
}

// number reads a whole number from 0 to most from a request.
func number(r *http.Request, name string, most int64) (int64, error) {
	v, err := strconv.ParseInt(r.FormValue(name), 10, 64)
	if err != nil || v < 0 || v > most {
		return 0, fault.New(fault.Usage, "%s %.40q: want a number from 0 to %d", name, r.FormValue(name), most)
	}
	return v, nil
}
