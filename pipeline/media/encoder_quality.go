package media

import (
	"strconv"

	"retime/pipeline/media/av"
)

// discRates are options, by the format of the file, that keep to the bit rates that players of discs take, with buffers of
// their size in bits.
var discRates = map[string]map[string]string{
	"dvd":  {"b": "8M", "maxrate": "9M", "bufsize": "1835008"},
	"vob":  {"b": "8M", "maxrate": "9M", "bufsize": "1835008"},
	"svcd": {"b": "2M", "maxrate": "2516k", "bufsize": "917504"},
	"vcd":  {"b": "1150k", "maxrate": "1150k", "bufsize": "327680"},
}

// defaultQuality returns options by which an encoder gives all pictures one quality or, in a file of a disc's format, keeps to a
// disc's rate. They are for encoders whose own default is FFmpeg's bit rate for all codecs, 200 kbit/s, which spoils most
// pictures; it returns nil for others, and if the caller's options set the quality.
func defaultQuality(encoder, format string, options map[string]string) map[string]string {
	for _, own := range []string{"b", "global_quality"} {
		if _, ok := options[own]; ok {
			return nil
		}
	}
	var quality int
	switch encoder {
	case "amv", "flv", "h261", "h263", "h263p", "libxvid", "mjpeg", "mpeg1video", "mpeg2video", "mpeg4", "msmpeg4", "msmpeg4v2",
		"snow", "speedhq", "svq1", "wmv1", "wmv2":
		if rates := discRates[format]; rates != nil {
			return rates
		}
		quality = 2 // the quantiser
	case "libtheora":
		quality = 9 // of 10, which is the best
	case "libvpx":
		return map[string]string{"crf": "10", "b": "50M"} // the bit rate is the highest that it takes
	default:
		return nil
	}
	return map[string]string{"b": "0", "flags": options["flags"] + "+qscale", "global_quality": strconv.Itoa(quality * av.LambdaPerQuantiser)}
}
