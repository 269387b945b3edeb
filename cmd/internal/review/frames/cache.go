package frames

import (
	"container/list"
	"sync"

	"retime/frame"
	"retime/pipeline"
)

// Shot is a frame as a view shows it. It counts a reference to Frame, which the holder of the
// Shot releases.
type Shot struct {
	Frame  *frame.Frame
	Record pipeline.Record
	Digest pipeline.Digest
}

type key struct {
	view  View
	frame int64
}

// cache keeps the frames shown last, up to a number of bytes.
type cache struct {
	limit int64

	mu      sync.Mutex
	bytes   int64
	entries map[key]*list.Element
	order   list.List // of *entry, the one used last in front
}

type entry struct {
	key
	shot  Shot
	bytes int64
}

func newCache(limit int64) *cache { return &cache{limit: limit, entries: map[key]*list.Element{}} }

// get returns a shot with a reference of the caller's.
func (c *cache) get(k key) (Shot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[k]
	if !ok {
		return Shot{}, false
	}
	c.order.MoveToFront(e)
	s := e.Value.(*entry).shot
	s.Frame.Retain()
	return s, true
}

func (c *cache) has(k key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[k] != nil
}

// put keeps a shot, with a reference of its own.
func (c *cache) put(k key, s Shot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.entries[k]; old != nil {
		c.drop(old)
	}
	e := &entry{key: k, shot: s}
	for _, p := range s.Frame.Planes {
		e.bytes += int64(len(p.Pix))
	}
	s.Frame.Retain()
	c.entries[k] = c.order.PushFront(e)
	for c.bytes += e.bytes; c.bytes > c.limit && c.order.Len() > 1; {
		c.drop(c.order.Back())
	}
}

// forget drops what doomed chooses.
func (c *cache) forget(doomed func(View, int64) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.entries {
		if doomed(k.view, k.frame) {
			c.drop(e)
		}
	}
}

func (c *cache) drop(e *list.Element) {
	v := c.order.Remove(e).(*entry)
	delete(c.entries, v.key)
	c.bytes -= v.bytes
	v.shot.Frame.Release()
}
