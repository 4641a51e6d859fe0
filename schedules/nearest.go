package schedules

import "slices"

// unknown makes an *UnknownError that lists the known names nearest to name.
func unknown(what, name string, known []string) *UnknownError {
	return &UnknownError{what, name, Nearest(name, known)}
}

// Nearest returns the three known names with the least edit distance to name, best first.
func Nearest(name string, known []string) []string {
	near := slices.Clone(known)
	slices.Sort(near)
	slices.SortStableFunc(near, func(a, b string) int { return distance(name, a) - distance(name, b) })
	return near[:min(3, len(near))]
}

// distance is the number of bytes to insert, delete or replace to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
