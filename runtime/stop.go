package kgenrt

import "strings"

// stopper holds back text that may become a stop string, so that none is ever shown.
type stopper struct {
	stops []string
	held  string
}

// push adds text and returns what is certain to come before any stop string, and whether one is complete. The text ends
// before the stop string that is complete first, the longest of those that end together: how tokens cut the text does not
// matter.
func (s *stopper) push(text string) (shown string, stopped bool) {
	s.held += text
	begin, end := 0, -1
	for _, stop := range s.stops {
		at := strings.Index(s.held, stop)
		if at >= 0 && (end < 0 || at+len(stop) < end || at+len(stop) == end && at < begin) {
			begin, end = at, at+len(stop)
		}
	}
	if end < 0 {
		begin = len(s.held) - s.beginning()
	}
	shown, s.held = s.held[:begin], s.held[begin:]
	return shown, end >= 0
}

// beginning returns the length of the longest end of the held text that a stop string begins with.
func (s *stopper) beginning() int {
	longest := 0
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(s.held)); n > longest; n-- {
			if strings.HasSuffix(s.held, stop[:n]) {
				longest = n
			}
		}
	}
	return longest
}
