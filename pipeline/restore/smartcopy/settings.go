package smartcopy

import (
	"encoding/binary"
	"strconv"

	"retime/pipeline/media"
)

// candidates returns the sets of encoder options to try, in order.
func (s *Splicer) candidates(g Grouping) []map[string]string {
	p := s.source.Source().Codec()
	profile, level := int(p.Profile()), int(p.Level())
	set := map[string]string{}
	switch s.opt.Encoder.Codec {
	case "libx264":
		if name := map[int]string{66: "baseline", 66 | 1<<9: "baseline", 77: "main", 100: "high", 110: "high10", 122: "high422", 244: "high444"}[profile]; name != "" {
			set["profile"] = name
		}
		if level > 0 {
			set["level"] = strconv.Itoa(level)
		}
		set["g"] = strconv.Itoa(g.Longest)
		switch g.Reorder {
		case 0:
			set["bf"] = "0"
		case 1:
			set["b-pyramid"] = "none"
		}
	case "libx265":
		set["x265-params"] = "open-gop=0"
		set["g"] = strconv.Itoa(g.Longest)
		switch g.Reorder {
		case 0:
			set["x265-params"] += ":bframes=0"
		case 1:
			set["x265-params"] += ":b-pyramid=0"
		}
		if s.opt.Encoder.CRF < 0 {
			s.opt.Encoder.CRF = smartCRF
		}
	case "prores_ks":
		set["profile"] = strconv.Itoa(media.ProResProfile(p))
	case "dnxhd":
		return s.source.Source().DNxHDSettings()
	case "huffyuv", "ffvhuff":
		return huffyuvSettings()
	case "ffv1":
		return ffv1Settings(len(p.ExtraData()) > 0, g.Head)
	}
	return []map[string]string{set}
}

// smartCRF is the constant rate factor for libx265 if the options set none. libx265's own default
// is too coarse for frames between copied ones.
const smartCRF = 18

// huffyuvSettings returns the combinations of settings that the header distinguishes: the prediction, and whether lines are
// predicted from those of their own field.
func huffyuvSettings() (list []map[string]string) {
	for _, prediction := range []string{"left", "plane", "median"} {
		for _, flags := range []string{"-ilme", "+ilme"} {
			list = append(list, map[string]string{"pred": prediction, "flags": flags})
		}
	}
	return list
}

// ffv1Settings returns the combinations of settings that an FFV1 header distinguishes,
// the usual ones first. Trying them is easier than parsing the header, which is range
// coded like the pictures. Up to 384 encoders are opened, once per file, and none for a
// stream with FFmpeg's default settings; an open takes a fraction of a millisecond.
// Without a header, the version stands in each key frame, and a decoder refuses one that changes.
func ffv1Settings(header bool, head []byte) (list []map[string]string) {
	if !header && isVersion0(head) {
		return []map[string]string{{"level": "0"}}
	} else if !header {
		return []map[string]string{{"level": "1"}}
	}
	for _, coder := range []string{"0", "1", "2"} {
		for _, context := range []string{"0", "1"} {
			for _, crc := range []string{"1", "0"} {
				for _, group := range []string{"12", "1"} {
					for _, slices := range []string{"4", "24", "16", "12", "9", "6", "30", "15", "20", "25", "28", "35", "36", "42", "49", "64"} {
						list = append(list, map[string]string{
							"level": "3", "coder": coder, "context": context, "slicecrc": crc, "g": group, "slices": slices,
						})
					}
				}
			}
		}
	}
	return list
}

// isVersion0 reports whether a key frame of FFV1 without a header, which begins with head, is of version 0. Its range coder
// has two decisions of equal chance first (RFC 9043, 3.8.1): that it is a key frame, and that the version is 0.
func isVersion0(head []byte) bool {
	const whole = 0xFF00
	return len(head) >= headLength && binary.BigEndian.Uint16(head) >= whole/2+whole/4
}
