package review

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// hub sends events to the tabs that show a clip, and knows when the last one was closed.
type hub struct {
	idle func() // is called when no tab was open for a while
	wait time.Duration

	mu    sync.Mutex
	tabs  map[*tab]bool
	timer *time.Timer
	ended bool
	done  chan struct{}
}

// tab is a page that listens.
type tab struct {
	clip int // listTab for the list of clips

	mu     sync.Mutex                 // for what follows
	latest map[string]json.RawMessage // the newest event of each kind
	adding []json.RawMessage          // all ratings
	wake   chan struct{}
}

func newHub(wait time.Duration, idle func()) *hub {
	return &hub{idle: idle, wait: wait, tabs: map[*tab]bool{}, done: make(chan struct{})}
}

// maxTabs bounds how many tabs may listen.
const maxTabs = 64

// open adds a tab; false if there are too many.
func (h *hub) open(clip int) (*tab, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.tabs) >= maxTabs || h.ended {
		return nil, false
	}
	t := &tab{clip: clip, latest: map[string]json.RawMessage{}, wake: make(chan struct{}, 1)}
	h.tabs[t] = true
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	return t, true
}

func (h *hub) close(t *tab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tabs, t)
	h.arm()
}

// rest has the hub ask again whether it is idle, after something else than a tab ended.
func (h *hub) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.arm()
	}
}

// arm starts to wait if no tab is open.
func (h *hub) arm() {
	if len(h.tabs) > 0 || h.ended || h.wait <= 0 {
		return
	}
	if h.timer != nil {
		h.timer.Stop()
	}
	h.timer = time.AfterFunc(h.wait, h.idle)
}

// watched reports whether any tab listens.
func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tabs) > 0
}

// anyClip stands for the tabs of all clips, but not those of the list.
const anyClip = -2

// watching reports whether a tab shows a clip.
func (h *hub) watching(clip int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for t := range h.tabs {
		if t.clip == clip || clip == anyClip && t.clip != listTab {
			return true
		}
	}
	return false
}

// end ends all tabs' connections.
func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.ended = true
	if h.timer != nil {
		h.timer.Stop()
	}
	close(h.done)
}

// send tells the tabs of a clip of the newest state of a kind.
func (h *hub) send(clip int, kind string, v any) {
	h.each(clip, func(t *tab, b json.RawMessage) { t.latest[kind] = b }, v)
}

// add tells the tabs of a clip of one more rating.
func (h *hub) add(clip int, v any) {
	h.each(clip, func(t *tab, b json.RawMessage) { t.adding = append(t.adding, b) }, v)
}

func (h *hub) each(clip int, put func(*tab, json.RawMessage), v any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b json.RawMessage
	for t := range h.tabs {
		if t.clip != clip {
			continue
		}
		if b == nil {
			var err error
			if b, err = json.Marshal(v); err != nil {
				panic(err) // events are plain values
			}
		}
		t.mu.Lock()
		put(t, b)
		t.mu.Unlock()
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// serve writes the events of a clip to a tab until the tab is closed.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, clip int) {
	t, ok := h.open(clip)
	if !ok {
		http.Error(w, "too many tabs are open", http.StatusServiceUnavailable)
		return
	}
	defer h.close(t)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	fmt.Fprint(w, "retry: 1000\nevent: hello\ndata: {}\n\n")
	if out.Flush() != nil {
		return
	}
	beat := time.NewTicker(15 * time.Second) // a connection that is gone shows when it is written to
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-h.done:
			fmt.Fprint(w, "event: bye\ndata: {}\n\n")
			_ = out.Flush()
			return
		case <-beat.C:
			fmt.Fprint(w, ": \n\n")
		case <-t.wake:
			t.mu.Lock()
			latest, adding := t.latest, t.adding
			t.latest, t.adding = map[string]json.RawMessage{}, nil
			t.mu.Unlock()
			for kind, b := range latest {
				fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
			}
			if len(adding) > 0 {
				b, _ := json.Marshal(adding)
				fmt.Fprintf(w, "event: ratings\ndata: %s\n\n", b)
			}
		}
		if out.Flush() != nil {
			return
		}
	}
}
