// Package extract finds the WGSL texts in programs for the web: in the data of .wasm files, in the strings of JavaScript and TypeScript,
// in the scripts of pages.
//
// A compiled program has its strings side by side, with zeros, lengths or nothing between them; a script has them as literals, with
// escapes, joined by + or with ${} parts. A text that the program puts together from parts when it runs is no text here: it is
// reported with its place, and why it can't be judged.
//
// Files come from anywhere. Nothing is allocated by a number in them, and whatever is cut short or wrong is an error with its offset.
package extract
