package subtitle

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// Clock reports when the output shows what a cue of the source shows.
type Clock struct {
	// At takes a time after the cue's beginning in the source to the time after its beginning in
	// the output, both in seconds. It never falls, and is below 0 for what the output cuts off.
	At     func(t *big.Rat) *big.Rat
	Length *big.Rat // of the cue in the source, in seconds
	Cut    bool     // the output shows a part of the cue only
}

var thousand = big.NewRat(1000, 1)

// count returns a time of the source, in units of 1/perSecond s, in the output, rounded to nearest.
func (c *Clock) count(t *big.Rat, perSecond *big.Rat) int64 {
	v := c.At(new(big.Rat).Quo(t, perSecond))
	return nearest(v.Mul(v, perSecond))
}

// nearest rounds v to the nearest integer, halves up.
func nearest(v *big.Rat) int64 {
	v = new(big.Rat).Add(v, big.NewRat(1, 2))
	return new(big.Int).Div(v.Num(), v.Denom()).Int64() // rounds down, as denominators are above 0
}

// number reads a decimal number.
func number(s string) (*big.Rat, bool) {
	s = strings.TrimSpace(s)
	if len(s) > 20 || strings.Trim(s, "+-.0123456789") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// write returns v, or old if that is the same number.
func write(old string, v int64) string {
	if was, ok := number(old); ok && was.Cmp(big.NewRat(v, 1)) == 0 {
		return old
	}
	return fmt.Sprint(v)
}

// ms returns a time of an argument, in milliseconds, in the output.
func (c *Clock) ms(arg string) string {
	if v, ok := number(arg); ok {
		return write(arg, c.count(v, thousand))
	}
	return arg
}

// edges returns when the whole cue begins and ends, in ms after its beginning in the output.
func (c *Clock) edges() (begin, end string) {
	return c.ms("0"), fmt.Sprint(c.count(new(big.Rat).Mul(c.Length, thousand), thousand))
}

// ASS returns an event of Advanced SubStation Alpha, as Matroska and FFmpeg hold it, with its times at
// the output's speed: of karaoke, fades, moves, other transforms, banners and scrolls.
func (c Clock) ASS(event string) string {
	fields := strings.SplitN(event, ",", 9)
	if len(fields) < 9 {
		return event
	}
	fields[7] = c.effect(fields[7])
	var out strings.Builder
	sung := new(big.Rat) // in 1/100 s
	text := fields[8]
	for {
		before, rest, ok := strings.Cut(text, "{")
		block, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			break
		}
		out.WriteString(before + "{" + c.tags(block, sung) + "}")
		text = after
	}
	fields[8] = out.String() + text
	return strings.Join(fields, ",")
}

var (
	karaoke = regexp.MustCompile(`^(kf|ko|kt|k|K)\s*([0-9]*\.?[0-9]*)`)
	timed   = regexp.MustCompile(`^(t|move|fade|fad)\s*\(`)
)

// tags returns the tags of an override block at the output's speed. sung is the karaoke's time so far.
func (c *Clock) tags(block string, sung *big.Rat) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(block, `\`)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		out.WriteByte('\\')
		if m := timed.FindStringSubmatch(rest); m != nil {
			inside, after := enclosed(rest[len(m[0]):])
			name, inside := c.call(m[1], inside)
			out.WriteString(name + "(" + inside)
			block = after
		} else if m := karaoke.FindStringSubmatch(rest); m != nil {
			out.WriteString(m[1] + c.sing(m[1], m[2], sung))
			block = rest[len(m[0]):]
		} else {
			block = rest
		}
	}
}

// enclosed cuts s before the parenthesis that closes one before s.
func enclosed(s string) (inside, after string) {
	depth := 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth == 0:
			return s[:i], s[i:]
		case r == ')':
			depth--
		}
	}
	return s, ""
}

// sing returns the argument of a tag of karaoke, in 1/100 s, and adds it to sung.
func (c *Clock) sing(name, arg string, sung *big.Rat) string {
	length, ok := number(arg)
	if !ok {
		if arg != "" {
			return arg
		}
		length = big.NewRat(100, 1)
	}
	if name == "kt" { // which goes to a time
		sung.Set(length)
		return write(arg, max(c.count(sung, big.NewRat(100, 1)), 0))
	}
	from := max(c.count(sung, big.NewRat(100, 1)), 0)
	sung.Add(sung, length)
	v := max(c.count(sung, big.NewRat(100, 1)), 0) - from
	if arg == "" && v == 100 {
		return arg
	}
	return write(arg, v)
}

// call returns a tag with arguments at the output's speed.
func (c *Clock) call(name, inside string) (string, string) {
	if name == "t" {
		return name, c.transform(inside)
	}
	args := strings.Split(inside, ",")
	switch n := len(args); {
	case name == "move" && (n == 4 || n == 6):
		args = c.move(args)
	case name != "move" && n == 2:
		name, args = c.fade(name, args)
	case name != "move" && n == 7:
		for i := range args[3:] {
			args[3+i] = c.ms(args[3+i])
		}
	}
	return name, strings.Join(args, ",")
}

func (c *Clock) transform(inside string) string {
	at := strings.IndexByte(inside, '\\')
	if at < 0 {
		return inside
	}
	var args []string
	if head := strings.TrimSuffix(strings.TrimSpace(inside[:at]), ","); head != "" {
		args = strings.Split(head, ",")
	}
	begin, end := c.edges()
	switch {
	case len(args) < 2 && c.Cut:
		args = append([]string{begin, end}, args...)
	case len(args) == 2 || len(args) == 3:
		last, ok := number(args[1])
		args[0] = c.ms(args[0])
		switch {
		case !ok || last.Sign() != 0:
			args[1] = c.ms(args[1])
		case c.Cut:
			args[1] = end // 0 stands for the cue's end
		}
		if args[1] == "0" && last.Sign() != 0 {
			args[1] = "-1"
		}
	default:
		return inside
	}
	return strings.Join(args, ",") + "," + inside[at:]
}

func (c *Clock) move(args []string) []string {
	if len(args) == 6 {
		t1, ok1 := number(args[4])
		t2, ok2 := number(args[5])
		if !ok1 || !ok2 {
			return args
		}
		if t1.Sign() <= 0 && t2.Sign() <= 0 { // which stands for the whole cue
			args = args[:4]
		}
	}
	begin, end := c.edges()
	switch {
	case len(args) == 6:
		args[4], args[5] = c.ms(args[4]), c.ms(args[5])
	case c.Cut:
		args = append(args, begin, end)
	default:
		return args
	}
	if v, _ := number(args[5]); v.Sign() <= 0 { // it has arrived before the output begins
		return []string{args[2], args[3], args[2], args[3]}
	}
	return args
}

// fade returns \fad, whose arguments say how long the cue appears and disappears, in ms.
func (c *Clock) fade(name string, args []string) (string, []string) {
	in, ok1 := number(args[0])
	out, ok2 := number(args[1])
	if !ok1 || !ok2 {
		return name, args
	}
	length := new(big.Rat).Mul(c.Length, thousand)
	begin, end := c.count(new(big.Rat), thousand), c.count(length, thousand)
	t2, t3 := c.count(in, thousand), c.count(new(big.Rat).Sub(length, out), thousand)
	if c.Cut {
		return "fade", []string{"255", "0", "255", fmt.Sprint(begin), fmt.Sprint(t2), fmt.Sprint(t3), fmt.Sprint(end)}
	}
	return name, []string{write(args[0], t2-begin), write(args[1], end-t3)}
}

// effect returns an event's effect at the output's speed. Banners and scrolls state the time that they
// take for a pixel, in ms.
func (c *Clock) effect(text string) string {
	args := strings.Split(text, ";")
	i := 1
	switch name := strings.ToLower(strings.TrimSpace(args[0])); {
	case name == "scroll up" || name == "scroll down":
		i = 3
	case name != "banner":
		return text
	}
	if i >= len(args) || c.Length.Sign() <= 0 {
		return text
	}
	v, ok := number(args[i])
	if !ok || v.Sign() <= 0 {
		return text
	}
	slow := new(big.Rat).Sub(c.At(c.Length), c.At(new(big.Rat)))
	slow.Quo(slow, c.Length)
	args[i] = write(args[i], max(nearest(slow.Mul(slow, v)), 1))
	return strings.Join(args, ";")
}

var inner = regexp.MustCompile(`<(?:(\d{2,6}):)?(\d{2}):(\d{2})\.(\d{3})>`)

// WebVTT returns the text of a cue with its inner timestamps at the output's times. The cue begins at
// begin in the source and at shown in the output, both in seconds. Timestamps count from the
// file's beginning, as FFmpeg writes them, or from the cue's, as Matroska asks for; they stay of that kind.
func (c Clock) WebVTT(text string, begin, shown *big.Rat) string {
	return inner.ReplaceAllStringFunc(text, func(tag string) string {
		m := inner.FindStringSubmatch(tag)
		t := new(big.Rat)
		for i, unit := range []int64{3_600_000, 60_000, 1000, 1} {
			if v, ok := number(m[i+1]); ok {
				t.Add(t, v.Mul(v, big.NewRat(unit, 1000)))
			}
		}
		var at *big.Rat
		after := new(big.Rat).Sub(t, begin)
		switch {
		case after.Sign() >= 0 && after.Cmp(c.Length) <= 0:
			at = c.At(after)
			at = at.Add(at, shown)
		case t.Cmp(c.Length) <= 0:
			at = c.At(t)
		default:
			return tag
		}
		ms := max(nearest(at.Mul(at, thousand)), 0)
		out := fmt.Sprintf("%02d:%02d.%03d", ms/60_000%60, ms/1000%60, ms%1000)
		if hours := ms / 3_600_000; hours > 0 || m[1] != "" {
			out = fmt.Sprintf("%02d:%s", hours, out)
		}
		return "<" + out + ">"
	})
}
