package media

import (
	"io"
	"os"

	"github.com/asticode/go-astiav"
)

// scrambledProbe is how many bytes of a transport stream are searched for scrambled packets.
const scrambledProbe = 4 << 20

// scrambled returns the streams, by their index, of a transport stream in a file whose packets are
// all scrambled (transport_scrambling_control of ISO/IEC 13818-1) where the file begins. FFmpeg
// takes them for damaged.
func scrambled(name string, input *astiav.FormatContext) map[int]bool {
	if input.InputFormat().Name() != "mpegts" || !Seekable(name) {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, scrambledProbe))
	if err != nil {
		return nil
	}
	clear, secret := map[int]bool{}, map[int]bool{}
	for _, p := range transportPackets(head) {
		const control, payload = 0xc0, 0x10
		switch pid := int(p[1]&0x1f)<<8 | int(p[2]); {
		case p[3]&payload == 0:
		case p[3]&control != 0:
			secret[pid] = true
		default:
			clear[pid] = true
		}
	}
	found := map[int]bool{}
	for _, s := range input.Streams() {
		if secret[s.ID()] && !clear[s.ID()] {
			found[s.Index()] = true
		}
	}
	return found
}

// transportPackets returns the packets of 188 bytes in data, which other bytes may stand between.
func transportPackets(data []byte) (list [][]byte) {
	const size, sync = 188, 0x47
	for _, step := range []int{size, 192, 204} {
		for begin := range min(step, len(data)) {
			list = list[:0]
			for i := begin; i+size <= len(data) && data[i] == sync; i += step {
				list = append(list, data[i:i+size])
			}
			if len(list) > 4 {
				return list
			}
		}
	}
	return nil
}
