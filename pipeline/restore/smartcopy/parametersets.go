package smartcopy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"retime/pipeline/media/nalunit"
)

// H.264 and HEVC describe a stream in parameter sets, which slices refer to by number. If
// the sets of two encoders have different numbers, their packets can be mixed in one
// stream without sending sets again at each change. Encoders number their sets 0, so this
// file renumbers the second encoder's sets and the references in its slices (ITU-T H.264
// and H.265, clauses 7.3).

// setNumbers are the numbers of one encoder's parameter sets.
type setNumbers struct{ vps, sps, pps uint }

// freeNumbers returns the numbers to choose from. In a slice, the number of the picture
// parameter set is an Exp-Golomb code: 1 bit for 0, and 9 bits for 15 to 30. So
// everything after it moves by a whole byte and stays aligned.
func freeNumbers(hevc bool) (list []setNumbers) {
	for n := range uint(15) {
		sps := 15 + n
		if hevc {
			sps = 15 - n // only 16 numbers exist
		}
		list = append(list, setNumbers{15 - n, sps, 15 + n})
	}
	return list
}

// The types of NAL units that this file distinguishes.
const (
	avcSlice, avcPartition, avcIDR, avcSPS, avcPPS, avcDelimiter = 1, 2, 5, 7, 8, 9

	hevcFirstIRAP, hevcIDRRADL, hevcIDRAlone, hevcLastIRAP = 16, 19, 20, 23
	hevcLastPicture, hevcVPS, hevcSPS, hevcPPS             = 31, 32, 33, 34
	hevcDelimiter                                          = 35
)

// nalKind returns the type of a NAL unit, -1 if the unit is too short.
func nalKind(hevc bool, nal []byte) int {
	switch {
	case hevc && len(nal) > 2:
		return int(nal[0] >> 1 & 63)
	case !hevc && len(nal) > 1:
		return int(nal[0] & 31)
	}
	return -1
}

// isSet reports whether a NAL unit is a parameter set.
func isSet(hevc bool, nal []byte) bool {
	k := nalKind(hevc, nal)
	return hevc && k >= hevcVPS && k <= hevcPPS || !hevc && (k == avcSPS || k == avcPPS)
}

// isDelimiter reports whether a NAL unit is an access unit delimiter, which comes before all others.
func isDelimiter(hevc bool, nal []byte) bool {
	k := nalKind(hevc, nal)
	return hevc && k == hevcDelimiter || !hevc && k == avcDelimiter
}

// restarts reports whether a packet's first picture is an IDR picture, across which no
// picture refers to another.
func restarts(hevc bool, nals [][]byte) bool {
	for _, nal := range nals {
		switch k := nalKind(hevc, nal); {
		case hevc && k >= 0 && k <= hevcLastPicture:
			return k == hevcIDRRADL || k == hevcIDRAlone
		case !hevc && k >= avcSlice && k <= avcIDR:
			return k == avcIDR
		}
	}
	return false
}

// renumber replaces the set numbers in an encoder's NAL unit by new ones. The old numbers
// must be 0.
func renumber(hevc bool, nal []byte, to setNumbers) ([]byte, error) {
	k := nalKind(hevc, nal)
	e := bitEditor{in: nalunit.Unescape(nal)}
	whole := true // the rest moves by whole bytes
	switch {
	case hevc && k == hevcVPS:
		e.skip(16)
		e.replace(4, uint64(to.vps), 4)
	case hevc && k == hevcSPS:
		e.skip(16)
		e.replace(4, uint64(to.vps), 4)
		e.skipProfile()
		e.number(to.sps)
		whole = false
	case !hevc && k == avcSPS:
		e.skip(8 + 24) // profile, constraints, level
		e.number(to.sps)
		whole = false
	case hevc && k == hevcPPS, !hevc && k == avcPPS:
		e.skip(8)
		if hevc {
			e.skip(8)
		}
		e.number(to.pps)
		e.number(to.sps)
		whole = false
	case hevc && k >= 0 && k <= hevcLastPicture:
		e.skip(16 + 1) // header and first_slice_segment_in_pic_flag
		if k >= hevcFirstIRAP && k <= hevcLastIRAP {
			e.skip(1) // no_output_of_prior_pics_flag
		}
		e.number(to.pps)
	case !hevc && (k == avcSlice || k == avcPartition || k == avcIDR):
		e.skip(8)
		e.golomb() // first_mb_in_slice
		e.golomb() // slice_type
		e.number(to.pps)
	default:
		return nal, nil
	}
	out, err := e.finish()
	if err != nil {
		return nil, err
	}
	if !whole {
		out = bytes.TrimRight(out, "\x00") // zeros after the stop bit
	}
	return nalunit.Escape(out), nil
}

// bitEditor copies bits and replaces some of them. After an error its methods do nothing.
type bitEditor struct {
	in   []byte
	at   int // index of the next bit of in
	out  []byte
	free int // unused bits of out's last byte
	err  error
}

// read reads the next n bits of the input, up to 32.
func (e *bitEditor) read(n int) (v uint64) {
	if e.at+n > 8*len(e.in) {
		e.err = nalunit.ErrCut
		return 0
	}
	for ; n > 0; n-- {
		v = v<<1 | uint64(e.in[e.at>>3]>>(7-e.at&7)&1)
		e.at++
	}
	return v
}

func (e *bitEditor) write(v uint64, n int) {
	for n > 0 {
		if e.free == 0 {
			e.out, e.free = append(e.out, 0), 8
		}
		take := min(n, e.free)
		n -= take
		e.free -= take
		e.out[len(e.out)-1] |= byte(v>>n&(1<<take-1)) << e.free
	}
}

// skip copies n bits.
func (e *bitEditor) skip(n int) (v uint64) {
	for ; n > 0 && e.err == nil; n -= min(n, 32) {
		v = e.read(min(n, 32))
		e.write(v, min(n, 32))
	}
	return v
}

// replace replaces the next old bits by the n lowest bits of v.
func (e *bitEditor) replace(old int, v uint64, n int) {
	e.read(old)
	e.write(v, n)
}

// golomb copies an Exp-Golomb code.
func (e *bitEditor) golomb() uint64 {
	zeros := 0
	for e.err == nil && e.skip(1) == 0 {
		if zeros++; zeros > 31 {
			e.err = nalunit.ErrCut
		}
	}
	return 1<<zeros - 1 + e.skip(zeros)
}

// number replaces an Exp-Golomb code of 0 by the code of v.
func (e *bitEditor) number(v uint) {
	if e.read(1) != 1 && e.err == nil {
		e.err = errors.New("the encoder's parameter sets have numbers other than 0")
	}
	n := 0
	for (v+1)>>(n+1) > 0 {
		n++
	}
	e.write(uint64(v)+1, 2*n+1)
}

// skipProfile copies HEVC's profile_tier_level and the fields before it.
func (e *bitEditor) skipProfile() {
	layers := int(e.skip(3))
	e.skip(1)
	e.skip(88 + 8)
	var profile, level [8]bool
	for i := range layers {
		profile[i], level[i] = e.skip(1) == 1, e.skip(1) == 1
	}
	if layers > 0 {
		e.skip(2 * (8 - layers))
	}
	for i := range layers {
		if profile[i] {
			e.skip(88)
		}
		if level[i] {
			e.skip(8)
		}
	}
}

// finish copies the rest of the input and returns the output.
func (e *bitEditor) finish() ([]byte, error) {
	if (8-e.free)&7 == e.at&7 { // copy the rest of a byte, then whole bytes
		if e.at&7 > 0 {
			e.skip(8 - e.at&7)
		}
		if e.err == nil {
			e.out = append(e.out, e.in[e.at>>3:]...)
		}
		return e.out, e.err
	}
	for e.err == nil && e.at < 8*len(e.in) {
		e.skip(min(32, 8*len(e.in)-e.at))
	}
	return e.out, e.err
}

// numberOf returns the number of a parameter set.
func numberOf(hevc bool, set []byte) (uint, error) {
	e := bitEditor{in: nalunit.Unescape(set)}
	var n uint64
	switch k := nalKind(hevc, set); {
	case hevc && k == hevcVPS:
		e.skip(16)
		n = e.skip(4)
	case hevc && k == hevcSPS:
		e.skip(16 + 4)
		e.skipProfile()
		n = e.golomb()
	case !hevc && k == avcSPS:
		e.skip(8 + 24)
		n = e.golomb()
	case hevc:
		e.skip(16)
		n = e.golomb()
	default:
		e.skip(8)
		n = e.golomb()
	}
	return uint(n), e.err
}

// sameSet reports whether two parameter sets have the same type and number.
func sameSet(hevc bool, a, b []byte) bool {
	if nalKind(hevc, a) != nalKind(hevc, b) || !isSet(hevc, a) {
		return false
	}
	m, e := numberOf(hevc, a)
	n, f := numberOf(hevc, b)
	return e == nil && f == nil && m == n
}

// joinSets renumbers an encoder's parameter sets. It chooses numbers that no set in have
// uses, or that identical sets in have already use. It returns the numbers, all
// renumbered sets, and the sets to add to have.
func joinSets(hevc bool, have, joining [][]byte) (to setNumbers, sets, added [][]byte, err error) {
next:
	for _, to = range freeNumbers(hevc) {
		sets, added = nil, nil
		for _, nal := range joining {
			set, err := renumber(hevc, nal, to)
			if err != nil {
				return to, nil, nil, err
			}
			sets = append(sets, set)
			i := slices.IndexFunc(have, func(h []byte) bool { return sameSet(hevc, h, set) })
			if i >= 0 && !bytes.Equal(have[i], set) {
				continue next
			}
			if i < 0 {
				added = append(added, set)
			}
		}
		return to, sets, added, nil
	}
	return to, nil, nil, fmt.Errorf("no number is free for another parameter set among the %d of the input", len(have))
}
