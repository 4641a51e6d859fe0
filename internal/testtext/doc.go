// Package testtext compares texts for tests, so that a difference that can't be seen is shown. Only tests import it.
package testtext
