package evaluate

import (
	"context"
	"strings"
	"time"

	"retime/pipeline"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
	"retime/warp"
)

// Setting is a set of options with which retime makes frames.
type Setting struct {
	Name string
	// Convert holds the options. Only those that pipeline.Convert uses matter.
	Convert pipeline.Options
	// Values shows the options in the report, by name.
	Values map[string]string
}

// Peer is another way to make frames: Blend or Nearest of package pipeline, FFmpeg's
// minterpolate filter, or a command.
type Peer struct {
	Name   string // in the report
	Method PeerMethod
	// Filter holds options for minterpolate in FFmpeg's notation, such as
	// "mc_mode=aobmc:vsbmc=1"; empty for the filter's defaults.
	Filter string
	// Line is the command line of a Command, which /bin/sh runs twice. The variable IN names a
	// video of the source frames without the held-out ones, RATE is the clip's frame rate, such as
	// 30000/1001, and FRAMES is the number of frames of the clip up to the last source frame. The
	// command writes a video of this rate, which begins with the first source frame, to its
	// standard output, in a container that FFmpeg reads.
	Line string
}

// PeerMethod names the method of a Peer.
type PeerMethod string

// The methods of peers.
const (
	Blend        PeerMethod = "blend"
	Nearest      PeerMethod = "nearest"
	Minterpolate PeerMethod = "minterpolate"
	Command      PeerMethod = "command"
)

// ParsePeer reads a method, which becomes the peer's name: blend, nearest, or minterpolate,
// optionally followed by = and options of the filter; or NAME=LINE for a command with another name.
// It returns a fault.Usage error for anything else.
func ParsePeer(s string) (Peer, error) {
	name, rest, given := strings.Cut(s, "=")
	method := PeerMethod(name)
	switch {
	case method == Minterpolate && given && (rest == "" || strings.ContainsAny(rest, "[];,'\\")):
		return Peer{}, fault.New(fault.Usage, "peer %q: want options of minterpolate as minterpolate=mc_mode=aobmc:vsbmc=1", s)
	case method == Minterpolate:
		return Peer{Name: s, Method: method, Filter: rest}, nil
	case (method == Blend || method == Nearest) && !given:
		return Peer{Name: s, Method: method}, nil
	case method == Blend || method == Nearest || name == "none":
		return Peer{}, fault.New(fault.Usage, "peer %q: %s takes no options; call a command by another name", s, name)
	case !given:
		return Peer{}, fault.New(fault.Usage, "peer %q: choose from blend, nearest, minterpolate, or give a command as NAME=COMMAND", s)
	case name == "" || strings.TrimSpace(rest) == "":
		return Peer{}, fault.New(fault.Usage, "peer %q: want a command as NAME=COMMAND", s)
	}
	return Peer{Name: name, Method: Command, Line: rest}, nil
}

// maker writes one frame to the job's sink for each of the job's times, and returns how long that
// took.
type maker interface {
	make(ctx context.Context, j job) (time.Duration, error)
}

// job names the frames to make.
type job struct {
	clip   *clip
	source pipeline.Source // of the kept frames
	sink   pipeline.Sink
	times  []int64 // in the time base of source's video
}

// method is a named way to make the held-out frames.
type method struct {
	name   string
	kind   report.Kind
	values map[string]string
	maker  maker
	flow   *pipeline.Options // nil if the method uses no optical flow
}

func (o *Options) methods() ([]method, error) {
	var methods []method
	for _, s := range o.Settings {
		p := o.convert(s.Convert)
		if _, files := p.Synthesis.Flow.Files(); files {
			return nil, fault.New(fault.Usage, "setting %q: Synthesis.Flow %s: files hold the flow between neighbouring frames, of which some are held out", s.Name, p.Synthesis.Flow)
		}
		m := method{name: s.Name, kind: report.Retime, values: s.Values, maker: conversion{p}}
		if p.Synthesis.Mode == "" || p.Synthesis.Mode.UsesFlow() {
			m.flow = &p
		}
		methods = append(methods, m)
	}
	for _, p := range o.Peers {
		m := method{name: p.Name, kind: report.Peer}
		switch p.Method {
		case Minterpolate:
			own := minterpolate{p.Filter, o.Threads}
			if err := own.check(); p.Filter != "" && err != nil {
				return nil, fault.New(fault.Usage, "peer %q: %w", p.Name, err)
			}
			m.maker = own
			m.values = map[string]string{"filter": "minterpolate"}
			if p.Filter != "" {
				m.values["options"] = p.Filter
			}
		case Blend, Nearest:
			m.maker = conversion{o.convert(pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Mode(p.Method)}})}
			m.values = map[string]string{"mode": string(p.Method)}
		case Command:
			if strings.TrimSpace(p.Line) == "" {
				return nil, fault.New(fault.Usage, "peer %q: no command", p.Name)
			}
			m.maker = newCommand(p.Line, o.Threads)
			m.values = map[string]string{"command": p.Line}
		default:
			return nil, fault.New(fault.Usage, "peer %q: no method %q", p.Name, p.Method)
		}
		methods = append(methods, m)
	}
	names := map[string]bool{}
	for _, m := range methods {
		if m.name == "" || names[m.name] {
			return nil, fault.New(fault.Usage, "two settings or peers are called %q; rename one", m.name)
		}
		names[m.name] = true
	}
	return methods, nil
}

// convert adds the options that all methods of a run share.
func (o *Options) convert(p pipeline.Options) pipeline.Options {
	p.Input.File, p.Hooks.Log, p.Hooks.Progress, p.Hooks.Record = o.Input.File, o.Log, nil, nil
	if p.Compute.Threads == 0 {
		p.Compute.Threads = o.Threads
	}
	return p
}

// conversion makes frames with pipeline.Convert.
type conversion struct{ options pipeline.Options }

// recorder is a sink that keeps the records of frames.
type recorder interface{ record(pipeline.Record) }

func (c conversion) make(ctx context.Context, j job) (time.Duration, error) {
	if r, ok := j.sink.(recorder); ok {
		c.options.Hooks.Record = r.record
	}
	began := time.Now()
	_, err := pipeline.Convert(ctx, j.source, j.sink, j.times, c.options)
	return time.Since(began), err
}
