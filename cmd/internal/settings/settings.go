// Package settings reads files of settings and job files, in YAML or JSON. The names of
// settings are those of flags; the caller gives them their meaning.
//
// The package walks the syntax tree and does not decode into Go types, because a
// setting keeps its line, for errors, and its text: 23.976, or 0.10, stays the same. Of
// the 16 wrong job files in this package's test, go-yaml's strict decoding accepts 7,
// and it drops the second document of one of these.
package settings

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// MaxBytes is the size of the largest file that the package reads.
const MaxBytes = 2 << 20

// Setting is a name with its value, or with the values of a list.
type Setting struct {
	Name    string
	Values  []string
	List    bool
	Line    int  // from 1
	Default bool // it comes from a job file's defaults
}

// Clip is an entry of a job file.
type Clip struct {
	Line int // from 1
	// Settings holds the clip's own settings, then those of the defaults that the clip
	// leaves out.
	Settings []Setting
}

// Parse reads a file that holds one mapping of settings; an empty file has no settings.
// An error begins with the line of the mistake.
func Parse(data []byte) ([]Setting, error) {
	body, err := parse(data)
	if err != nil || body == nil {
		return nil, err
	}
	return settings(body)
}

// ParseJobs reads a job file: a mapping of "defaults", which may be absent, and
// "clips", a list of at least one clip. An error begins with the line of the mistake.
func ParseJobs(data []byte) ([]Clip, error) {
	body, err := parse(data)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errors.New("line 1: no clips")
	}
	top, err := mapping(body, "clips, and perhaps defaults")
	if err != nil {
		return nil, err
	}
	var defaults []Setting
	var list *ast.SequenceNode
	for _, v := range top {
		key := v.Key.GetToken()
		switch key.Value {
		case "defaults":
			if _, empty := v.Value.(*ast.NullNode); empty {
				continue
			}
			if defaults, err = settings(v.Value); err != nil {
				return nil, err
			}
		case "clips":
			var ok bool
			if list, ok = v.Value.(*ast.SequenceNode); !ok {
				return nil, fmt.Errorf("line %d: clips: want a list", key.Position.Line)
			}
		default:
			return nil, fmt.Errorf("line %d: no %q here; choose from clips, defaults", key.Position.Line, key.Value)
		}
	}
	if list == nil || len(list.Values) == 0 {
		return nil, errors.New("line 1: no clips")
	}
	var clips []Clip
	for _, n := range list.Values {
		own, err := settings(n)
		if err != nil {
			return nil, err
		}
		c := Clip{Line: line(n), Settings: own}
		if len(own) > 0 {
			c.Line = own[0].Line
		}
		for _, d := range defaults {
			if !slices.ContainsFunc(own, func(s Setting) bool { return s.Name == d.Name }) {
				d.Default = true
				c.Settings = append(c.Settings, d)
			}
		}
		clips = append(clips, c)
	}
	return clips, nil
}

// parse returns the only document of a file; nil for an empty file.
func parse(data []byte) (ast.Node, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("line 1: %d bytes; at most %d are read", len(data), MaxBytes)
	}
	tokens := lexer.Tokenize(string(data))
	if err := checkShape(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if e := (yaml.Error)(nil); errors.As(err, &e) {
		return nil, fmt.Errorf("line %d: %s", e.GetToken().Position.Line, e.GetMessage())
	} else if err != nil {
		return nil, err
	}
	switch len(file.Docs) {
	case 0:
		return nil, nil
	case 1:
		return file.Docs[0].Body, nil
	}
	return nil, fmt.Errorf("line 1: %d documents: want one document", len(file.Docs))
}

// mapping returns n's entries. want describes them in errors.
func mapping(n ast.Node, want string) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, fmt.Errorf("line %d: want %s", line(n), want)
}

// settings reads a mapping of settings. The parser has refused repeated names.
func settings(n ast.Node) ([]Setting, error) {
	values, err := mapping(n, "settings as name: value")
	if err != nil {
		return nil, err
	}
	var all []Setting
	for _, v := range values {
		s := Setting{Name: v.Key.GetToken().Value, Line: line(v.Key)}
		items := []ast.Node{v.Value}
		if list, ok := v.Value.(*ast.SequenceNode); ok {
			items, s.List = list.Values, true
		}
		for _, item := range items {
			value, ok := scalar(item)
			if !ok {
				return nil, fmt.Errorf("line %d: %s: want a word or a number, or a list of them", s.Line, s.Name)
			}
			s.Values = append(s.Values, value)
		}
		all = append(all, s)
	}
	return all, nil
}

// scalar returns the text of a word or a number.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func line(n ast.Node) int { return n.GetToken().Position.Line }
