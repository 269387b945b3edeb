package main

import (
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/vectors"
)

// flowFiles are the flags about optical flow that is written.
type flowFiles struct{ vectors.Options }

// flowWriter is what writes the flow of a conversion; nil for none.
type flowWriter struct{ *vectors.Writer }

// open has a conversion write its flow.
func (f *flowFiles) open(p *pipeline.Options) (flowWriter, error) {
	if f.File == "" {
		if f.Confidence || f.Format != (vectors.Format{}) {
			return flowWriter{}, fault.New(fault.Usage, "--write-confidence and --flow-format are about the files of --write-flow; name these")
		}
		return flowWriter{}, nil
	}
	if !p.Synthesis.Mode.UsesFlow() {
		return flowWriter{}, fault.New(fault.Usage, "--write-flow: --mode %s uses no optical flow", p.Synthesis.Mode)
	}
	o := f.Options
	o.Overwrite, o.Workers = p.Output.Overwrite, p.Compute.Workers()
	o.First, _ = media.FirstNumber(f.File, p.Input.File)
	w, err := vectors.NewWriter(o)
	if err != nil {
		return flowWriter{}, err
	}
	p.Hooks.Vectors = w.Write
	return flowWriter{w}, nil
}

// close ends the writing.
func (w flowWriter) close() error {
	if w.Writer == nil {
		return nil
	}
	return w.Close()
}
