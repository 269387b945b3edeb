package streams

import (
	"strings"
	"testing"

	"github.com/asticode/go-astiav"
)

func TestFraming(t *testing.T) {
	packets := map[string]string{
		"adts": "\xff\xf1\x4c\x80", "adts with a checksum": "\xff\xf8\x4c\x80", "layer 1": "\xff\xff\x84\x04", "layer 2": "\xff\xfd\x84\x04", "layer 3 of MPEG-2.5": "\xff\xe3\x84\x04",
		"ac3": "\x0b\x77\x12\x34", "swapped ac3": "\x77\x0b\x12\x34", "stuffed layer 2": "\x00\x00\x00\xff\xfd\x84\x04", "stuffing": "\x00\x00", "raw": "\xde\x04\x00\x4c", "one byte": "\xff", "nothing": "",
	}
	for _, c := range []struct {
		codec     astiav.CodecID
		sequence  string // keys of packets
		whyOfLast string
	}{
		{astiav.CodecIDAac, "adts,adts with a checksum,adts", ""},
		{astiav.CodecIDAac, "adts,layer 2", "it is MPEG audio"},
		{astiav.CodecIDAac, "adts,layer 2,adts", ""},
		{astiav.CodecIDAac, "adts,ac3", "it is AC-3"},
		{astiav.CodecIDAac, "adts,raw", "it has no header of AAC"},
		{astiav.CodecIDAac, "adts,nothing", ""}, // side data may come alone,
		{astiav.CodecIDAac, "layer 2", "it is MPEG audio"},
		{astiav.CodecIDAac, "ac3,adts", ""},
		{astiav.CodecIDAac, "raw", "it has no header of AAC"},
		{astiav.CodecIDMp2, "layer 2,layer 1", ""},
		{astiav.CodecIDMp3, "layer 3 of MPEG-2.5", ""},
		{astiav.CodecIDMp2, "adts", "it is AAC"},
		{astiav.CodecIDMp2, "raw", ""},
		{astiav.CodecIDMp2, "layer 2,stuffed layer 2,layer 2", ""},
		{astiav.CodecIDMp2, "layer 2,stuffed layer 2", ""},
		{astiav.CodecIDMp2, "layer 2,stuffing", "it has no header of MPEG audio"},
		{astiav.CodecIDAac, "adts,stuffed layer 2", "it has no header of AAC"},
		{astiav.CodecIDMp2, "layer 2,raw", "it has no header of MPEG audio"},
		{astiav.CodecIDAc3, "ac3,swapped ac3", ""},
		{astiav.CodecIDEac3, "ac3,layer 2", "it is MPEG audio"},
		{astiav.CodecIDAc3, "ac3,one byte", "it has no header of AC-3"},
		{astiav.CodecIDAc3, "raw", "it has no header of AC-3"}, // the rest of one, where the file was cut
		{astiav.CodecIDOpus, "layer 2,ac3,adts", ""},
	} {
		check := checkOf(t, c.codec, nil)
		var why string
		for _, key := range strings.Split(c.sequence, ",") {
			data, ok := packets[key]
			if !ok {
				t.Fatalf("no packet is called %q", key)
			}
			why = check.reject([]byte(data))
		}
		if why != c.whyOfLast {
			t.Errorf("%s: %s: %q, want %q", c.codec, c.sequence, why, c.whyOfLast)
		}
	}
}

// AAC whose configuration the container holds has no headers: its packets begin with any bits,
// by chance with those of a header.
func TestUnframedAAC(t *testing.T) {
	check := checkOf(t, astiav.CodecIDAac, []byte{0x11, 0x90})
	for _, data := range []string{"\xde\x04\x00\x4c", "\xff\xf1\x4c\x80", "\xde\x04\x00\x4c", "\x0b\x77\x12\x34", "\xff\xfd\x84\x04", ""} {
		if why := check.reject([]byte(data)); why != "" {
			t.Errorf("% x: %s", data, why)
		}
	}
}

// checkOf makes the check for a stream whose container holds extradata.
func checkOf(t *testing.T, id astiav.CodecID, extradata []byte) framingCheck {
	t.Helper()
	p := astiav.AllocCodecParameters()
	defer p.Free()
	p.SetCodecID(id)
	if len(extradata) > 0 {
		if err := p.SetExtraData(extradata); err != nil {
			t.Fatal(err)
		}
	}
	return newFramingCheck(p)
}
