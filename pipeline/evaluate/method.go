package evaluate

import (
	"context"
	"strings"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

// Setting is a way in which retime makes frames.
type Setting struct {
	Name string
	// Convert holds the options; those that pipeline.Convert heeds count.
	Convert pipeline.Options
	// Values are the options by the names that the report shows.
	Values map[string]string
}

// Peer is another way to make frames: Blend and Nearest as pipeline does, or
// FFmpeg's minterpolate filter.
type Peer struct {
	Name   string // of the report's column
	Method PeerMethod
	// Filter holds options of minterpolate in FFmpeg's notation, such as
	// "mc_mode=aobmc:vsbmc=1"; empty for the filter's defaults.
	Filter string
}

// PeerMethod names what a peer does.
type PeerMethod string

// The peers' methods.
const (
	Blend        PeerMethod = "blend"
	Nearest      PeerMethod = "nearest"
	Minterpolate PeerMethod = "minterpolate"
)

// ParsePeer reads a peer's method, for minterpolate with options behind an
// equals sign. What is read is the peer's name.
func ParsePeer(s string) (Peer, error) {
	name, options, given := strings.Cut(s, "=")
	method := PeerMethod(name)
	switch {
	case method != Blend && method != Nearest && method != Minterpolate:
		return Peer{}, fault.New(fault.Usage, "peer %q: choose from blend, nearest, minterpolate", s)
	case given && (method != Minterpolate || options == "" || strings.ContainsAny(options, "[];,'\\")):
		return Peer{}, fault.New(fault.Usage, "peer %q: want options of minterpolate as minterpolate=mc_mode=aobmc:vsbmc=1", s)
	}
	return Peer{Name: s, Method: method, Filter: options}, nil
}

// kind tells retime's settings from the peers.
type kind string

const (
	kindRetime kind = "retime"
	kindPeer   kind = "peer"
)

// maker writes one frame to sink for each of the timestamps.
type maker interface {
	make(ctx context.Context, source pipeline.Source, sink pipeline.Sink, timestamps []int64) error
}

// method makes the held-out frames in one way.
type method struct {
	name   string
	kind   kind
	values map[string]string
	maker  maker
	flow   *pipeline.Options // of a method that estimates optical flow
}

func (o *Options) methods() ([]method, error) {
	var methods []method
	for _, s := range o.Settings {
		p := o.convert(s.Convert)
		m := method{name: s.Name, kind: kindRetime, values: s.Values, maker: conversion{p}}
		if p.Synthesis.Mode == "" || p.Synthesis.Mode.UsesFlow() {
			m.flow = &p
		}
		methods = append(methods, m)
	}
	for _, p := range o.Peers {
		m := method{name: p.Name, kind: kindPeer}
		switch p.Method {
		case Minterpolate:
			m.maker = minterpolate{p.Filter, o.Threads}
			m.values = map[string]string{"filter": "minterpolate"}
			if p.Filter != "" {
				m.values["options"] = p.Filter
			}
		case Blend, Nearest:
			m.maker = conversion{o.convert(pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Mode(p.Method)}})}
			m.values = map[string]string{"mode": string(p.Method)}
		default:
			return nil, fault.New(fault.Usage, "peer %q: no method %q", p.Name, p.Method)
		}
		methods = append(methods, m)
	}
	names := map[string]bool{}
	for _, m := range methods {
		if m.name == "" || names[m.name] {
			return nil, fault.New(fault.Usage, "two settings or peers go by the name %q; rename one", m.name)
		}
		names[m.name] = true
	}
	return methods, nil
}

// convert fills in what holds for all of a run.
func (o *Options) convert(p pipeline.Options) pipeline.Options {
	p.Input.File, p.Hooks.Log, p.Hooks.Progress, p.Hooks.Record = o.Input, o.Log, nil, nil
	if p.Compute.Threads == 0 {
		p.Compute.Threads = o.Threads
	}
	return p
}

// conversion makes frames with the pipeline.
type conversion struct{ options pipeline.Options }

// recorder is a sink that wants to know how each frame came about.
type recorder interface{ record(pipeline.Record) }

func (c conversion) make(ctx context.Context, source pipeline.Source, sink pipeline.Sink, timestamps []int64) error {
	if r, ok := sink.(recorder); ok {
		c.options.Hooks.Record = r.record
	}
	_, err := pipeline.Convert(ctx, source, sink, timestamps, c.options)
	return err
}
