// Package chat renders conversations through the chat template that a model file carries.
//
// Vocabulary of the package:
//
//   - template: the Jinja text under tokenizer.chat_template. Its language is Jinja2 as Hugging Face runs it:
//     trim_blocks and lstrip_blocks on, raise_exception, strftime_now and tojson as there.
//   - message: role, content and further keys, in order. Templates see dictionaries with the order kept.
//   - untrusted text: what came from messages and tools, not from the template. A special token that is spelled out
//     there must not become one, or users could close their turn and speak as the system.
//   - guard: a call that compiling puts into the template, to bound what a hostile file can do.
//
// # Language
//
// Expressions are evaluated by github.com/ardanlabs/jinja. Compile reads the template first: it settles white space
// by Jinja2's rules, turns text into literals, and adds the guards. Filters whose result depends on details of
// Python (tojson) or can grow without bound (replace, join, indent) are this package's own.
//
// # Which bytes are untrusted
//
// The engine has no notion of where a string came from, so the template is rendered more than once, with private-use
// characters that occur nowhere in template or data put into the untrusted strings. What they show is believed only
// if the text without them equals the plain rendering.
//
//  1. One before the first and one behind the last printing character of each string. White space stays outside, so
//     trim and strip do no harm. If all of them arrive in order with the whole string between, that is the answer.
//     This holds for nearly all templates and conversations.
//  2. Templates may look into content (startswith, split, in, ==, slices, length) and then fail step 1. Next, each
//     character in untrusted text that any special token begins with is replaced by one stand-in. Since no special
//     token can then be read in untrusted text, it does not matter how the template cuts it up.
//  3. If the template looks for such characters too ("</think>" in content), only complete special tokens inside
//     the strings get a stand-in for their first character. This is believed if it leaves the same special tokens,
//     in the same order, as step 2 has: then none was put together from pieces of content.
//  4. Otherwise the template wanted to see special tokens in the content, and the text of step 2 is used: the
//     template takes them for ordinary text, as the tokenizer will.
//
// Roles are part of the template's own markup in some families, so they are trusted, and restricted to letters,
// digits, "_", "-" and ".".
//
// # Limits
//
// Compile refuses templates above 256 KiB, macros that call themselves or each other in a ring, and constructs whose
// cost cannot be bounded. Rendering is stopped at bounds on time, loop turns, macro depth, range, and the sizes of
// values and text, which grow with the data. Values are measured wherever they outlive a tag or a filter: when they are
// stored or printed, go into a loop or a macro, or come out of a filter; within one tag only so much can be joined. All errors are of type *Error; a template's own raise_exception has
// ClassRaised.
package chat
