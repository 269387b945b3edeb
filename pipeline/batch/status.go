package batch

import (
	"errors"
	"time"

	"retime/pipeline/fault"
)

// Status describes a batch from its records.
type Status struct {
	Active bool // a process is working on the batch
	Jobs   []JobStatus
}

// JobStatus describes a job. Its numbers come from the job's last run.
type JobStatus struct {
	State    State
	Changed  bool // the job is Done, but its input, settings or output have changed, or its output is gone
	Err      error
	Log      string
	Frames   int64
	Made     int64
	Seconds  float64
	Started  time.Time
	Finished time.Time
}

// ReadStatus returns the status of o.Jobs from the records in o.Dir, whether the batch
// runs or not. It changes nothing.
func ReadStatus(o Options) (*Status, error) {
	keys, err := o.settle()
	if err != nil {
		return nil, err
	}
	s := &Status{Active: locked(o.Dir)}
	records, err := readRecords(o.Dir, keys)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		r, ok := records[key]
		j := JobStatus{
			State: r.State, Log: logName(o.Dir, key), Frames: r.Frames, Made: r.Made, Seconds: r.Seconds, Started: r.Started, Finished: r.Finished,
		}
		switch {
		case !ok:
			j.State, j.Log = Pending, ""
		case r.State == Done:
			j.Changed = !r.upToDate(&o.Jobs[i])
		case r.State == Running && !s.Active:
			j.State = Pending // a kill ended it
		case r.State == Failed:
			j.Err = &fault.Error{Kind: fault.Kind(r.Code), Err: errors.New(r.Error)}
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s, nil
}
