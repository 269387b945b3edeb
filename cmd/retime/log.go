package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// logHandler prints records as "retime: warning: message (key value, ...)".
type logHandler struct {
	mu    *sync.Mutex
	out   io.Writer
	level slog.Level
	attrs []slog.Attr

	warned *[]string // collects the warnings; may be nil
}

func newLogHandler(out io.Writer, level slog.Level) slog.Handler {
	return &logHandler{mu: new(sync.Mutex), out: out, level: level}
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	var details []string
	add := func(a slog.Attr) bool {
		details = append(details, fmt.Sprintf("%s %v", a.Key, a.Value))
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	prefix := "retime: "
	switch {
	case r.Level >= slog.LevelError:
		prefix += "error: "
	case r.Level >= slog.LevelWarn:
		prefix += "warning: "
	}
	line := inFlags(r.Message, nil)
	if len(details) > 0 {
		line += " (" + strings.Join(details, ", ") + ")"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.warned != nil && r.Level == slog.LevelWarn {
		*h.warned = append(*h.warned, line)
	}
	_, err := fmt.Fprintln(h.out, prefix+line)
	return err
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(c.attrs[:len(c.attrs):len(c.attrs)], attrs...)
	return &c
}

// WithGroup returns h, because no message has groups.
func (h *logHandler) WithGroup(string) slog.Handler { return h }
