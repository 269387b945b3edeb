package segment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"retime/pipeline"
	"retime/pipeline/timeline"
)

// differences names the options in which a and b differ, with both values.
func differences(a, b *settings) (names []string) {
	now := b.list()
	for i, was := range a.list() {
		before, errA := json.Marshal(was.plain())
		after, errB := json.Marshal(now[i].plain())
		if err := errors.Join(errA, errB); err != nil {
			panic(err) // settings have JSON
		}
		if bytes.Equal(before, after) {
			continue
		}
		name := was.group + "." + was.name
		old, given := shown(name, was.value.Interface(), before), shown(name, now[i].value.Interface(), after)
		if old == given {
			given = "another"
		}
		names = append(names, fmt.Sprintf("%s %s, now %s", name, old, given))
	}
	return names
}

// shown formats an option, whose JSON is text, as its flag is written: "none" if it is not set, and
// "given" for a list that no flag takes or that is too long for a message.
func shown(name string, option any, text []byte) string {
	const most = 60 // bytes
	switch o := option.(type) {
	case pipeline.Rate:
		if o.Value == nil {
			return "none"
		}
		text := o.Value.RatString()
		if o.Multiple {
			text += "x"
		}
		return text
	case *big.Rat:
		if o != nil && name == "Timing.Shutter" { // whose flag is an angle
			return new(big.Rat).Mul(o, big.NewRat(timeline.MaxAngle, 1)).RatString()
		}
	case map[string]string:
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(o)) {
			pairs = append(pairs, key+"="+o[key])
		}
		return shown(name, pairs, nil)
	case []string:
		all := strings.Join(o, " ")
		if len(all) > most {
			return "given"
		}
		return cmp.Or(all, "none")
	}
	var plain string
	switch err := json.Unmarshal(text, &plain); { // null leaves it empty
	case err == nil:
		return cmp.Or(plain, "none")
	case text[0] == '[' || text[0] == '{':
		return "given"
	}
	return string(text)
}
