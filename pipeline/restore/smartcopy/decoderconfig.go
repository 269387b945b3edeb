package smartcopy

import (
	"encoding/binary"
	"errors"

	"retime/pipeline/media/nalunit"
)

// decoderConfig is the decoder configuration of an H.264 or HEVC stream in a container: a
// record of ISO/IEC 14496-15, clauses 5.3.3.1 and 8.3.3.1, or parameter sets with start
// codes.
type decoderConfig struct {
	hevc   bool
	length int      // bytes in the length before each NAL unit; 0 for start codes
	head   []byte   // the record before the sets; empty for start codes
	sets   [][]byte // parameter sets; for HEVC, other NAL units as well
	flags  []byte   // for HEVC, the first byte of the list that each set is in
	tail   []byte   // for H.264, the record after the sets
}

var errConfig = errors.New("the decoder configuration is damaged")

// Sizes in bytes of a record before its sets.
const (
	avcHead  = 5
	hevcHead = 22
)

// parseConfig parses a stream's extradata.
func parseConfig(hevc bool, b []byte) (*decoderConfig, error) {
	c := &decoderConfig{hevc: hevc}
	switch {
	case len(b) == 0 || len(b) > 3 && b[0] == 0 && b[1] == 0 && (b[2] == 1 || b[2] == 0 && b[3] == 1):
		c.sets = nalunit.SplitStartCodes(b)
		return c, nil
	case hevc && len(b) > hevcHead:
		c.head, c.length = b[:hevcHead], int(b[21]&3)+1
		return c, c.parseLists(b[hevcHead:])
	case !hevc && len(b) > avcHead+1:
		c.head, c.length = b[:avcHead], int(b[4]&3)+1
		rest := b[avcHead:]
		for _, mask := range []byte{31, 255} {
			var err error
			if rest, err = c.take(rest[1:], int(rest[0]&mask), 0); err != nil {
				return nil, err
			}
			if mask == 31 && len(rest) == 0 {
				return nil, errConfig
			}
		}
		c.tail = rest
		return c, nil
	}
	return nil, errConfig
}

// take reads n sets from b and returns the rest of b.
func (c *decoderConfig) take(b []byte, n int, flags byte) ([]byte, error) {
	for range n {
		if len(b) < 2 {
			return nil, errConfig
		}
		size := int(binary.BigEndian.Uint16(b))
		if b = b[2:]; size > len(b) {
			return nil, errConfig
		}
		c.sets, c.flags = append(c.sets, b[:size]), append(c.flags, flags)
		b = b[size:]
	}
	return b, nil
}

// parseLists reads an HEVC record's lists of NAL units.
func (c *decoderConfig) parseLists(b []byte) (err error) {
	lists := int(b[0])
	b = b[1:]
	for range lists {
		if len(b) < 3 {
			return errConfig
		}
		if b, err = c.take(b[3:], int(binary.BigEndian.Uint16(b[1:])), b[0]); err != nil {
			return err
		}
	}
	return nil
}

// with returns the extradata with the sets in added appended. It fails if their profile
// is higher than the stream's or the record has no room for them.
func (c *decoderConfig) with(added [][]byte) ([]byte, error) {
	if len(c.head) == 0 {
		return nalunit.Join(append(append([][]byte{}, c.sets...), added...), 0), nil
	}
	out := append([]byte{}, c.head...)
	for _, set := range added {
		if err := c.cover(out, nalunit.Unescape(set)); err != nil {
			return nil, err
		}
	}
	if c.hevc {
		return c.appendLists(out, added)
	}
	for _, list := range []struct {
		kind, most int
		mark       byte
	}{{avcSPS, 31, 7 << 5}, {avcPPS, 255, 0}} {
		var sets [][]byte
		for _, set := range append(append([][]byte{}, c.sets...), added...) {
			if nalKind(false, set) == list.kind {
				sets = append(sets, set)
			}
		}
		if len(sets) > list.most {
			return nil, errors.New("the container holds no further parameter set")
		}
		out = appendSets(append(out, list.mark|byte(len(sets))), sets)
	}
	return append(out, c.tail...), nil
}

func (c *decoderConfig) appendLists(out []byte, added [][]byte) ([]byte, error) {
	type list struct {
		flags byte
		sets  [][]byte
	}
	var lists []list
	add := func(set []byte, flags byte) {
		for i := range lists {
			if lists[i].flags&63 == flags&63 {
				lists[i].sets = append(lists[i].sets, set)
				return
			}
		}
		lists = append(lists, list{flags, [][]byte{set}})
	}
	for i, set := range c.sets {
		add(set, c.flags[i])
	}
	for _, set := range added {
		add(set, 1<<7|byte(nalKind(true, set))) // with the flag that the list has all sets of this kind
	}
	out = append(out, byte(len(lists)))
	for _, l := range lists {
		out = appendSets(binary.BigEndian.AppendUint16(append(out, l.flags), uint16(len(l.sets))), l.sets)
	}
	return out, nil
}

func appendSets(out []byte, sets [][]byte) []byte {
	for _, set := range sets {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(set))), set...)
	}
	return out
}

// cover raises the level in a record's head to the level of an unescaped sequence parameter set. It
// fails if the set's profile is higher than the record's.
func (c *decoderConfig) cover(head, set []byte) error {
	var have, joins, level byte
	var at int // of the level in the head
	switch k := nalKind(c.hevc, set); {
	case c.hevc && k == hevcSPS && len(set) > 15:
		have, joins, level, at = head[1]&31, set[3]&31, set[14], 12
		// Set the fields about parallel decoding to unknown.
		head[13], head[14], head[15] = 0xf0, 0, 0xfc
	case !c.hevc && k == avcSPS && len(set) > 4:
		have, joins, level, at = head[1], set[1], set[3], 3
	default:
		return nil
	}
	if joins > have { // of the profiles in use, a higher number allows more
		return errors.New("the encoder's profile is beyond the input's")
	}
	head[at] = max(head[at], level)
	return nil
}
