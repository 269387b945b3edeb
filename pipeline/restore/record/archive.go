package record

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// The elements of PREMIS 3.0 that are written; see https://www.loc.gov/standards/premis/.
type premis struct {
	XMLName  xml.Name       `xml:"http://www.loc.gov/premis/v3 premis"`
	Version  string         `xml:"version,attr"`
	Instance string         `xml:"xmlns:xsi,attr"`
	Objects  []premisObject `xml:"object"`
	Event    premisEvent    `xml:"event"`
	Agent    premisAgent    `xml:"agent"`
}

type premisObject struct {
	Type       string           `xml:"xsi:type,attr"`
	Identifier premisIdentifier `xml:"objectIdentifier"`
	Digest     *premisFixity    `xml:"objectCharacteristics>fixity,omitempty"`
	Size       int64            `xml:"objectCharacteristics>size,omitempty"`
	Format     string           `xml:"objectCharacteristics>format>formatDesignation>formatName"`
	Name       string           `xml:"originalName"`
}

type premisIdentifier struct {
	Type  string `xml:"objectIdentifierType"`
	Value string `xml:"objectIdentifierValue"`
}

type premisFixity struct {
	Algorithm string `xml:"messageDigestAlgorithm"`
	Digest    string `xml:"messageDigest"`
}

type premisEvent struct {
	IdentifierType  string        `xml:"eventIdentifier>eventIdentifierType"`
	IdentifierValue string        `xml:"eventIdentifier>eventIdentifierValue"`
	Type            string        `xml:"eventType"`
	Time            string        `xml:"eventDateTime"`
	Detail          string        `xml:"eventDetailInformation>eventDetail"`
	Outcome         premisOutcome `xml:"eventOutcomeInformation"`
	AgentType       string        `xml:"linkingAgentIdentifier>linkingAgentIdentifierType"`
	AgentValue      string        `xml:"linkingAgentIdentifier>linkingAgentIdentifierValue"`
	Links           []premisLink  `xml:"linkingObjectIdentifier"`
}

type premisOutcome struct {
	Outcome string       `xml:"eventOutcome"`
	Details []premisNote `xml:"eventOutcomeDetail"`
}

type premisNote struct {
	Note string `xml:"eventOutcomeDetailNote"`
}

type premisLink struct {
	Type  string `xml:"linkingObjectIdentifierType"`
	Value string `xml:"linkingObjectIdentifierValue"`
	Role  string `xml:"linkingObjectRole"`
}

type premisAgent struct {
	IdentifierType  string `xml:"agentIdentifier>agentIdentifierType"`
	IdentifierValue string `xml:"agentIdentifier>agentIdentifierValue"`
	Name            string `xml:"agentName"`
	Type            string `xml:"agentType"`
	Version         string `xml:"agentVersion"`
}

// events returns the restoration as an event of PREMIS.
func (r *Report) events(at time.Time) ([]byte, error) {
	p := premis{
		Version: "3.0", Instance: "http://www.w3.org/2001/XMLSchema-instance",
		Event: premisEvent{
			IdentifierType: "local", IdentifierValue: "restoration of " + r.Output.Name + " at " + at.Format(time.RFC3339), Type: "modification", Time: at.Format(time.RFC3339), Detail: r.Command,
			Outcome:   premisOutcome{"success", []premisNote{{fmt.Sprintf("%d frames equal to the source's; %d made, in whole or in part; %d others changed", r.Equal, len(r.Made), len(r.Changed))}}},
			AgentType: "local", AgentValue: "retime",
		},
		Agent: premisAgent{"local", "retime", "retime", "software", r.Version},
	}
	for _, f := range r.Frames {
		p.Event.Outcome.Details = append(p.Event.Outcome.Details, premisNote{f.note()})
	}
	for i, f := range []File{r.Input, r.Output} {
		o := premisObject{Type: "file", Identifier: premisIdentifier{"local", f.Name}, Size: f.Bytes, Format: strings.TrimPrefix(filepath.Ext(f.Name), "."), Name: filepath.Base(f.Name)}
		if f.SHA256 != "" {
			o.Digest = &premisFixity{"SHA-256", f.SHA256}
		}
		p.Objects = append(p.Objects, o)
		p.Event.Links = append(p.Event.Links, premisLink{"local", f.Name, []string{"source", "outcome"}[i]})
	}
	data, err := xml.MarshalIndent(&p, "", "  ")
	return append(append([]byte(xml.Header), data...), '\n'), err
}

// note tells in a line what was made of a frame.
func (f Frame) note() string {
	text := fmt.Sprintf("frame %d", f.Frame)
	if f.Timecode != "" {
		text += " (" + f.Timecode + ")"
	}
	if f.Field != "" {
		text += ", " + string(f.Field) + " field"
	}
	text += fmt.Sprintf(": %s, score %.2f; %s", f.Kind, f.Score, f.Method)
	for i, a := range f.Areas {
		text += fmt.Sprintf("%s %dx%d pixels at %d, %d", []string{" in", ";"}[min(i, 1)], a.Width, a.Height, a.X, a.Y)
	}
	return text + fmt.Sprintf(", confidence %.2f", f.Confidence)
}

// The names of a bag's files; see RFC 8493.
const (
	bagDeclaration = "bagit.txt"
	bagInfo        = "bag-info.txt"
	bagManifest    = "manifest-sha256.txt"
)

// bag returns the files that make the directory a bag once the output is in its data directory; none if it is not
// one file.
func (r *Report) bag(at time.Time) map[string][]byte {
	if r.Output.SHA256 == "" {
		return nil
	}
	name := strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D").Replace(filepath.Base(r.Output.Name))
	return map[string][]byte{
		bagDeclaration: []byte("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"),
		bagInfo: fmt.Appendf(nil, "Bagging-Date: %s\nPayload-Oxum: %d.1\nBag-Software-Agent: retime %s\nExternal-Description: Restoration of %s\n",
			at.Format(time.DateOnly), r.Output.Bytes, r.Version, strings.Join(strings.Fields(filepath.Base(r.Input.Name)), " ")),
		bagManifest: fmt.Appendf(nil, "%s  data/%s\n", r.Output.SHA256, name),
	}
}
