//go:build race

package cliptest

// Race says that the race detector is on.
const Race = true
