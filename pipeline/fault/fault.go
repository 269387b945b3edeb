// Package fault sorts errors by what their reader can do about them, so that a program
// can choose its exit code whatever package an error comes from.
package fault

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Kind describes what went wrong in the caller's terms. Its values are the exit codes that
// the retime command documents; the values above 63 follow BSD's sysexits.h.
type Kind int

// These are the kinds of errors.
const (
	Internal    Kind = 1   // a defect in retime or in a library
	Usage       Kind = 2   // options that make no sense, alone or together
	BadData     Kind = 65  // the input is damaged or of another kind than expected
	NoInput     Kind = 66  // the input does not exist or cannot be opened
	CannotWrite Kind = 73  // the output cannot be created, or a write failed
	TryAgain    Kind = 75  // a resource was short; the same call may work later
	Mismatch    Kind = 76  // the written file differs from what it should be
	Cancelled   Kind = 130 // stopped on request
)

// Error is an error with a Kind.
type Error struct {
	Kind Kind
	Err  error

	format string // of New, with its args; empty for none
	args   []any
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New formats an error of the given kind; format may use %w. The format and arguments of type Words
// are the program's own words, in which Text finds the options that the error is about.
func New(kind Kind, format string, args ...any) error {
	return &Error{kind, fmt.Errorf(format, args...), format, args}
}

// Cancel formats an error of kind Cancelled, which wraps ctx's error.
func Cancel(ctx context.Context, format string, args ...any) error {
	return &Error{Cancelled, &cancelled{fmt.Sprintf(format, args...), ctx.Err()}, format, args}
}

// Interrupted returns err, or if there is one and ctx has ended, an error of kind Cancelled.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return Cancel(ctx, "cancelled")
	}
	return err
}

// ExitCode returns the exit code of a program that ends with err: Cancelled if it says so, or else its kind.
func ExitCode(err error) int {
	if errors.Is(err, context.Canceled) {
		return int(Cancelled)
	}
	return int(KindOf(err))
}

// cancelled wraps a cause that its text does not repeat.
type cancelled struct {
	text  string
	cause error
}

func (c *cancelled) Error() string { return c.text }
func (c *cancelled) Unwrap() error { return c.cause }

// KindOf returns TryAgain if err's chain says that there were too many open files, or else the kind
// of the outermost Error in it, or Internal if there is none.
func KindOf(err error) Kind {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return TryAgain
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
