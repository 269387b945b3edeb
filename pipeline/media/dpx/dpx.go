// Package dpx gives pictures of DPX the headers of others (SMPTE ST 268-1:2014).
package dpx

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
)

// Places in a header, in bytes.
const (
	dataAt       = 4
	sizeAt       = 16
	elementsAt   = 770
	widthAt      = 772
	heightAt     = 776
	descriptorAt = 800
	bitsAt       = 803
	packingAt    = 804
	encodingAt   = 806
	elementAt    = 808 // where the first element's samples begin
	lineEndAt    = 812
	pictureEndAt = 816
	image        = 1664 // the length of what describes the image, and of the least header
	filmRateAt   = 1724
	videoRateAt  = 1940
	whole        = 2048 // the length of a header with all parts but the user's
)

// header is a file with its byte order.
type header struct {
	file  []byte
	order binary.ByteOrder
}

// parse returns the header of a file; ok is false if that is no DPX of one element with all that describes the image.
func parse(file []byte) (h header, ok bool) {
	if len(file) < image {
		return h, false
	}
	switch string(file[:4]) {
	case "SDPX":
		h = header{file, binary.BigEndian}
	case "XPDS":
		h = header{file, binary.LittleEndian}
	default:
		return h, false
	}
	at := h.long(dataAt)
	return h, at >= image && int64(at) <= int64(len(file)) && h.order.Uint16(file[elementsAt:]) == 1
}

func (h *header) long(at int) uint32 { return h.order.Uint32(h.file[at:]) }

// Graft returns the picture of the file encoded, of any encoder, with the header of the file model, and as many bytes of the user's
// as that has. Only how the samples are packed is encoded's, in model's byte order, and rates that model states
// become rate, unless that is nil. ok is false if the two are not of one size and format.
func Graft(encoded, model []byte, rate *big.Rat) (file []byte, ok bool) {
	from, ok := parse(encoded)
	if !ok {
		return nil, false
	}
	to, ok := parse(model)
	if !ok || from.long(widthAt) != to.long(widthAt) || from.long(heightAt) != to.long(heightAt) ||
		encoded[descriptorAt] != model[descriptorAt] || encoded[bitsAt] != model[bitsAt] {
		return nil, false
	}
	samples, begin := encoded[from.long(dataAt):], to.long(dataAt)
	to.file = append(slices.Clone(model[:begin]), samples...)
	packing := from.order.Uint16(encoded[packingAt:])
	to.order.PutUint16(to.file[packingAt:], packing)
	to.order.PutUint16(to.file[encodingAt:], from.order.Uint16(encoded[encodingAt:]))
	to.order.PutUint32(to.file[elementAt:], begin)
	to.order.PutUint32(to.file[lineEndAt:], from.long(lineEndAt))
	to.order.PutUint32(to.file[pictureEndAt:], from.long(pictureEndAt))
	to.order.PutUint32(to.file[sizeAt:], uint32(len(to.file)))
	if from.order != to.order {
		swap(to.file[begin:], wordOf(int(model[bitsAt]), packing))
	}
	SetRate(to.file, rate)
	return to.file, true
}

// wordOf is the bytes of the words in which samples lie.
func wordOf(bits int, packing uint16) int {
	switch {
	case bits == 8:
		return 1
	case bits == 16, bits == 12 && packing != 0:
		return 2
	}
	return 4
}

// swap turns the byte order of words.
func swap(data []byte, word int) {
	for ; word > 1 && len(data) >= word; data = data[word:] {
		slices.Reverse(data[:word])
	}
}

// SetRate sets the frame rates that a file states to rate, in place; nil changes none.
func SetRate(file []byte, rate *big.Rat) {
	h, ok := parse(file)
	if !ok || rate == nil || h.long(dataAt) < whole {
		return
	}
	value, _ := rate.Float32()
	for _, at := range []int{filmRateAt, videoRateAt} {
		if stated := math.Float32frombits(h.long(at)); stated > 0 && stated <= math.MaxFloat32 { // all ones are for none
			h.order.PutUint32(file[at:], math.Float32bits(value))
		}
	}
}
