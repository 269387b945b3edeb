package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"retime/pipeline/fault"
)

// typed is a flag's value of type T. Set parses the text and stores the value in the
// options.
type typed[T any] struct {
	to    *T
	parse func(string) (T, error)
	text  string // the text of the last Set, or the default
	kind  string
}

// Set parses text and stores the value.
func (v *typed[T]) Set(text string) error {
	t, err := v.parse(text)
	if err != nil {
		return err
	}
	*v.to, v.text = t, text
	return nil
}

// String returns the text of the last Set, or the default.
func (v *typed[T]) String() string { return v.text }

// Type names the type in messages.
func (v *typed[T]) Type() string { return v.kind }

// parsed returns a flag's value that parse reads into to. text shows the default.
func parsed[T any](to *T, text string, parse func(string) (T, error)) pflag.Value {
	return &typed[T]{to, parse, text, "value"}
}

// optional returns a flag's value that parse reads into to, and that has no default.
func optional[T any](to *T, parse func(string) (T, error)) pflag.Value { return parsed(to, "", parse) }

// word returns a flag's value that is a name. The library checks the name.
func word[T ~string](to *T) pflag.Value {
	return parsed(to, string(*to), func(text string) (T, error) { return T(text), nil })
}

// numbers returns a flag's value of numbers that the verb reads. It refuses an empty text.
func numbers(to *string) pflag.Value {
	return parsed(to, *to, func(text string) (string, error) {
		if text == "" {
			return "", errors.New("want a number")
		}
		return text, nil
	})
}

// integer returns a flag's value that is a whole number.
func integer(to *int) pflag.Value { return parsed(to, strconv.Itoa(*to), parseInt) }

// pointed returns a flag's value for an option that is nil until the flag sets it.
func pointed[T any](to **T, parse func(string) (T, error)) pflag.Value {
	text := ""
	if *to != nil {
		text = fmt.Sprint(**to)
	}
	return parsed(to, text, func(text string) (*T, error) {
		v, err := parse(text)
		return &v, err
	})
}

func parseInt(text string) (int, error) {
	n, err := strconv.ParseInt(text, 0, strconv.IntSize)
	if err != nil {
		return 0, errors.New("want a whole number")
	}
	return int(n), nil
}

func parseFloat(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, errors.New("want a number")
	}
	return v, nil
}

func parseBool(text string) (bool, error) {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return on, nil
}

// boolean returns the value of a flag that takes no text.
func boolean(to *bool) pflag.Value {
	return &typed[bool]{to, parseBool, strconv.FormatBool(*to), "bool"}
}

// choose returns the value of a flag that takes no text and sets to to value.
func choose[T comparable](to *T, value T) pflag.Value {
	return &typed[T]{to, func(text string) (T, error) {
		var none T
		switch on, err := parseBool(text); {
		case on || err != nil:
			return value, err
		case *to == value:
			return none, nil
		}
		return *to, nil
	}, "false", "bool"}
}

// repeatable is the type of flags that may be given several times. Cobra knows them by
// this name.
const repeatable = "stringArray"

// list is the value of a flag that may be given several times.
type list struct {
	to      *[]string
	split   func(string) ([]string, error)
	changed bool // a Set has replaced the default
}

// texts returns a list of texts as they are given.
func texts(to *[]string) pflag.Value {
	return &list{to: to, split: func(text string) ([]string, error) { return []string{text}, nil }}
}

// commaSeparated returns a list of the texts between commas.
func commaSeparated(to *[]string) pflag.Value {
	return &list{to: to, split: func(text string) ([]string, error) {
		if text == "" {
			return nil, nil
		}
		return csv.NewReader(strings.NewReader(text)).Read()
	}}
}

// Set adds to the list. The first Set replaces the default.
func (v *list) Set(text string) error {
	more, err := v.split(text)
	if err != nil {
		return err
	}
	if !v.changed {
		*v.to, v.changed = nil, true
	}
	*v.to = append(*v.to, more...)
	return nil
}

// all returns the texts of the list.
func (v *list) all() []string { return *v.to }

// String returns the list in brackets, and no text for an empty list.
func (v *list) String() string { return bracketed(*v.to) }

// Type names the type in messages.
func (v *list) Type() string { return repeatable }

// pairs is the value of a flag that collects options of an encoder.
type pairs struct {
	to   *map[string]string
	flag string
}

// Set adds a pair.
func (v *pairs) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return fault.New(fault.Usage, "%s %q: want key=value", v.flag, text)
	}
	if *v.to == nil {
		*v.to = map[string]string{}
	}
	(*v.to)[key] = value
	return nil
}

// String returns the pairs in brackets, by their keys.
func (v *pairs) String() string { return bracketed(v.all()) }

// all returns the pairs, by their keys.
func (v *pairs) all() (pairs []string) {
	for _, key := range slices.Sorted(maps.Keys(*v.to)) {
		pairs = append(pairs, key+"="+(*v.to)[key])
	}
	return pairs
}

// Type names the type in messages.
func (v *pairs) Type() string { return repeatable }

func bracketed(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(all, ",") + "]"
}
