package main

import (
	_ "embed"
	"runtime/debug"
	"strings"
)

// release is the version of the next release of this source. CONTRIBUTING.md tells how
// to make a release.
const release = "v0.2.0"

// archived holds the commit and the nearest tag in a source archive made by git
// archive, which fills in the placeholders that a checkout keeps.
//
//go:embed version.txt
var archived string

// version returns the release or the commit that the program was built from. Machines
// that share a plan compare their versions.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info, archived)
}

// versionOf returns release for its tagged commit without changes, release-dev+COMMIT
// for any other commit, with .dirty if files differed from it, and release-dev if
// neither the build nor the archive names a commit. A module that the go command
// downloaded keeps the version that it was asked for.
func versionOf(info *debug.BuildInfo, archive string) string {
	const digits = 12
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	built := info.Main.Version
	commit, known := settings["vcs.revision"]
	tagged := built == release
	if !known && built != "" && built != "(devel)" {
		return built
	}
	if fields := strings.Fields(archive); !known && !strings.HasPrefix(archive, "$Format") && len(fields) > 0 {
		commit = fields[0]
		tagged = len(fields) > 1 && fields[1] == release
	}
	switch {
	case settings["vcs.modified"] == "true":
		return release + "-dev+" + commit[:min(digits, len(commit))] + ".dirty"
	case tagged:
		return release
	case commit == "":
		return release + "-dev"
	}
	return release + "-dev+" + commit[:min(digits, len(commit))]
}
