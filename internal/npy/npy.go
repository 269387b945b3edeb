// Package npy reads headers of NumPy's format for arrays, .npy (NumPy Enhancement Proposal 1): a magic string, a version,
// the length of what follows, and a Python dictionary in text. The elements come next.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Magic is what an array begins with.
const Magic = "\x93NUMPY"

// longest is how many bytes a header may have.
const longest = 1 << 16

// Header says what elements follow.
type Header struct {
	Type    string // as NumPy writes it: "<f4" for float32, little-endian
	Fortran bool   // the first index varies fastest
	Shape   []int
}

// String describes the elements to whoever has made the array.
func (h Header) String() string {
	order := "C"
	if h.Fortran {
		order = "Fortran"
	}
	return fmt.Sprintf("type %.20q in %s order, shape %v", h.Type, order, h.Shape)
}

// ReadHeader reads a header of version 1 to 3. r is then at the first element.
func ReadHeader(r io.Reader) (Header, error) {
	text, err := readText(r)
	if err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	h, err := parse(text)
	if err != nil {
		return Header{}, fmt.Errorf("header %.80q: %w", text, err)
	}
	return h, nil
}

func readText(r io.Reader) (string, error) {
	var begin [len(Magic) + 2]byte // with the version
	if _, err := io.ReadFull(r, begin[:]); err != nil || string(begin[:len(Magic)]) != Magic {
		return "", errors.New("not a NumPy array")
	}
	var length [4]byte
	size := length[:]
	switch version := begin[len(Magic)]; version {
	case 1:
		size = size[:2]
	case 2, 3:
	default:
		return "", fmt.Errorf("version %d: want 1 to 3", version)
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return "", err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > longest {
		return "", fmt.Errorf("%d bytes, at most %d are read", n, longest)
	}
	text := make([]byte, n)
	_, err := io.ReadFull(r, text)
	return string(text), err
}

// parse parses the dictionary in a header.
func parse(text string) (h Header, err error) {
	d := pyDict{text}
	if err := d.want("{"); err != nil {
		return h, err
	}
	seen := map[string]bool{}
	for !d.accept("}") {
		key, err := d.str()
		if err != nil {
			return h, fmt.Errorf("key: %w", err)
		}
		if err := d.want(":"); err != nil {
			return h, err
		}
		switch key {
		case "descr":
			h.Type, err = d.str()
		case "fortran_order":
			h.Fortran, err = d.boolean()
		case "shape":
			h.Shape, err = d.tuple()
		default:
			err = errors.New("unknown key")
		}
		if err == nil && seen[key] {
			err = errors.New("given twice")
		}
		if err != nil {
			return h, fmt.Errorf("%q: %w", key, err)
		}
		seen[key] = true
		if !d.accept(",") {
			if err := d.want("}"); err != nil {
				return h, err
			}
			break
		}
	}
	if strings.TrimSpace(d.rest) != "" {
		return h, fmt.Errorf("%.20q follows the dictionary", d.rest)
	}
	if len(seen) != 3 {
		return h, errors.New("want descr, fortran_order and shape")
	}
	return h, nil
}

// pyDict reads the tokens of a Python dictionary and skips white space.
type pyDict struct{ rest string }

// accept skips token if it comes next.
func (d *pyDict) accept(token string) bool {
	d.rest = strings.TrimLeft(d.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(d.rest, token)
	if ok {
		d.rest = rest
	}
	return ok
}

func (d *pyDict) want(token string) error {
	if !d.accept(token) {
		return fmt.Errorf("want %q before %.20q", token, d.rest)
	}
	return nil
}

func (d *pyDict) str() (string, error) {
	for _, quote := range []string{"'", `"`} {
		if d.accept(quote) {
			s, rest, ok := strings.Cut(d.rest, quote)
			if !ok || strings.Contains(s, `\`) {
				break
			}
			d.rest = rest
			return s, nil
		}
	}
	return "", fmt.Errorf("want a plain string before %.20q", d.rest)
}

func (d *pyDict) boolean() (bool, error) {
	switch {
	case d.accept("True"):
		return true, nil
	case d.accept("False"):
		return false, nil
	}
	return false, fmt.Errorf("want True or False before %.20q", d.rest)
}

// tuple reads whole numbers below 2^31.
func (d *pyDict) tuple() (values []int, err error) {
	if err := d.want("("); err != nil {
		return nil, err
	}
	for !d.accept(")") {
		d.accept("") // to skip white space
		n := len(d.rest) - len(strings.TrimLeft(d.rest, "0123456789"))
		v, err := strconv.ParseUint(d.rest[:n], 10, 31)
		if err != nil {
			return nil, fmt.Errorf("want a whole number below 2^31 before %.20q", d.rest)
		}
		d.rest = strings.TrimPrefix(d.rest[n:], "L") // Python 2 wrote such suffixes
		values = append(values, int(v))
		if !d.accept(",") {
			return values, d.want(")")
		}
	}
	return values, nil
}
