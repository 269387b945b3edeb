package segment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// Manifest describes a segment's file. Make writes it last, so if there is a manifest,
// the file was whole.
type Manifest struct {
	Plan    string `json:"plan"` // ID of the plan
	Index   int    `json:"index"`
	First   int64  `json:"first"` // number of the first frame
	Frames  int64  `json:"frames"`
	Made    int64  `json:"made"` // of them, frames that no camera shot
	File    string `json:"file"` // name of the file of packets, beside the manifest
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Digest  string `json:"digest"`  // SHA-256 of Digests in order
	Digests []Hash `json:"digests"` // of the frames before encoding
}

// Hash is the digest of a frame; JSON has it in hexadecimal digits.
type Hash pipeline.Digest

// MarshalText returns hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads hexadecimal digits.
func (h *Hash) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(h) {
		return fmt.Errorf("%q is no SHA-256", b)
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// Sum returns the SHA-256 of frames' digests in order, in hexadecimal digits. The sum
// over all segments is the sum over the whole output, wherever it was cut.
func Sum(parts ...[]Hash) string {
	h := sha256.New()
	for _, digests := range parts {
		for _, d := range digests {
			h.Write(d[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// manifestName returns the name of the manifest of range i.
func manifestName(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("%06d.json", i)) }

// packetsName returns the name of the file of packets whose SHA-256 is sum. Workers
// whose encoders differ do not overwrite each other's files.
func packetsName(i int, sum string) string { return fmt.Sprintf("%06d-%.16s.packets", i, sum) }

// maxManifest bounds the size of a manifest in bytes.
const maxManifest = 1 << 28

// errMissing reports a range that was not made yet.
var errMissing = errors.New("not made yet")

// check reads the manifest of range i and compares it with the plan, and its packets
// with the manifest: their size or, if all is set, every byte. id is the plan's ID, which is costly
// to make for each range.
func (p *Plan) check(dir, id string, i int, all bool) (*Manifest, error) {
	f, err := plainfile.Open(manifestName(dir, i), maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	m := new(Manifest)
	if err := json.NewDecoder(f).Decode(m); err != nil {
		return nil, fmt.Errorf("manifest: %w", fault.Plain(err))
	}
	want := p.Ranges[i]
	last := i == len(p.Ranges)-1
	switch {
	case m.Plan != id:
		return nil, errors.New("made for another plan")
	case m.Index != i || m.First != want.First || m.Frames != want.End-want.First && !last || m.Frames != int64(len(m.Digests)):
		return nil, fmt.Errorf("holds frames %d to %d, not %d to %d", m.First, m.First+m.Frames, want.First, want.End)
	case m.File != packetsName(i, m.SHA256) || m.Digest != Sum(m.Digests):
		return nil, errors.New("the manifest contradicts itself")
	}
	packets, err := plainfile.Open(filepath.Join(dir, m.File), plainfile.Unlimited)
	if err != nil {
		return nil, err
	}
	defer packets.Close()
	if packets.Size() != m.Bytes {
		return nil, fmt.Errorf("%s has %d bytes, not %d", m.File, packets.Size(), m.Bytes)
	}
	if all {
		h := sha256.New()
		if _, err := io.Copy(h, packets); err != nil {
			return nil, err
		}
		if hex.EncodeToString(h.Sum(nil)) != m.SHA256 {
			return nil, fmt.Errorf("%s is damaged", m.File)
		}
	}
	return m, nil
}
