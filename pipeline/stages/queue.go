package stages

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// stages are goroutines that are joined by queues. The first error ends all of them.
type stages struct {
	group  *errgroup.Group
	ctx    context.Context
	drains []func()
}

func newStages(ctx context.Context) *stages {
	group, ctx := errgroup.WithContext(ctx)
	return &stages{group: group, ctx: ctx}
}

// stage emits what it makes until it has made all, or fails. emit takes over what it is
// given, and fails if the run has ended.
type stage[T any] func(ctx context.Context, emit func(v T) error) error

// connect starts a stage and returns a queue of what the stage emits. The queue is closed
// when the stage returns, also after an error: a reader must not take a queue's end for
// success.
func connect[T interface{ Release() }](s *stages, depth int, run stage[T]) <-chan T {
	queue := make(chan T, depth)
	s.start(func(ctx context.Context) error {
		defer close(queue)
		return run(ctx, func(v T) error {
			select {
			case queue <- v:
				return nil
			case <-ctx.Done():
				v.Release()
				return ctx.Err()
			}
		})
	})
	s.drains = append(s.drains, func() { drain(queue) })
	return queue
}

// drain releases what is left in a queue that is closed.
func drain[T interface{ Release() }](queue <-chan T) {
	for v := range queue {
		v.Release()
	}
}

// start starts a stage that emits nothing.
func (s *stages) start(stage func(ctx context.Context) error) {
	s.group.Go(func() error {
		if err := stage(s.ctx); err != nil {
			return err
		}
		return s.ctx.Err()
	})
}

// wait returns the first error once all stages have ended, and releases what is left in
// the queues.
func (s *stages) wait() error {
	err := s.group.Wait()
	for _, drain := range s.drains {
		drain()
	}
	return err
}
