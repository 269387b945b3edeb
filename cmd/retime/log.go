package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// logHandler prints records as "retime: warning: message (key value, ...)", or as objects. It prints each once, though an input may be
// read twice; at debug level, each time.
type logHandler struct {
	mu      *sync.Mutex
	out     io.Writer
	level   slog.Level
	attrs   []slog.Attr
	objects bool // print each record as a JSON object

	warned *[]message      // collects the warnings; may be nil
	said   map[string]bool // lines
}

// message is a record as --progress json prints it. One of the first three is set.
type message struct {
	Warning string            `json:"warning,omitempty"`
	Info    string            `json:"info,omitempty"`
	Error   string            `json:"error,omitempty"`
	Details map[string]string `json:"details,omitempty"`
}

func newLogHandler(out io.Writer, level slog.Level) *logHandler {
	return &logHandler{mu: new(sync.Mutex), out: out, level: level, said: map[string]bool{}}
}

// logTo returns the handler of a run's messages.
func (d *display) logTo(out io.Writer) *logHandler {
	h := newLogHandler(out, d.logLevel())
	h.objects = d.progress == "json"
	return h
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	var details []string
	named := map[string]string{}
	add := func(a slog.Attr) bool {
		details = append(details, fmt.Sprintf("%s %v", a.Key, a.Value))
		named[a.Key] = a.Value.String()
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	text := inFlags(r.Message, nil)
	m, prefix := message{Details: named}, "retime: "
	switch {
	case r.Level >= slog.LevelError:
		m.Error = text
		prefix += "error: "
	case r.Level >= slog.LevelWarn:
		m.Warning = text
		prefix += "warning: "
	default:
		m.Info = text
	}
	line := prefix + text
	if len(details) > 0 {
		line += " (" + strings.Join(details, ", ") + ")"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Level >= slog.LevelInfo {
		if h.said[line] {
			return nil
		}
		h.said[line] = true
	}
	if h.warned != nil && m.Warning != "" {
		*h.warned = append(*h.warned, m)
	}
	if h.objects {
		return json.NewEncoder(h.out).Encode(m)
	}
	_, err := fmt.Fprintln(h.out, line)
	return err
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(c.attrs[:len(c.attrs):len(c.attrs)], attrs...)
	return &c
}

// WithGroup returns h, because no message has groups.
func (h *logHandler) WithGroup(string) slog.Handler { return h }
