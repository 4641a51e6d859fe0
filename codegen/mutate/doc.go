// Package mutate breaks kernels on purpose, one small mistake at a time, so that a test can ask whether the checks of kernels see it.
//
// A mistake is a change of the AST of a WGSL text at one site. Operators lists the kinds of mistakes; those that people make who write
// kernels by hand or change what generates them:
//
//	barrier     a barrier dropped
//	bound       < for <=, a bound or clamp off by one
//	conversion  signed for unsigned bytes, another rounding, abs lost
//	extreme     min for max
//	guard       a guard or clamp lost
//	lane        the neighbouring element, component or lane
//	logic       == for !=, && for ||, ! lost
//	mask        the mask of bits lost, or the choice of a masked value
//	nibble      the high nibble for the low one
//	operands    operands of - / % < or fma, or branches of select, the wrong way round
//	reduction   a partial sum left out, a tree's step too short, another operation of subgroups
//	scale       the other of two scales, or of scale and offset
//	stride      a factor or step of an index off by one
//	tail        what a guard guards, or the last statement of a block, dropped
//	zero        an accumulator that starts at another value
//	arithmetic  + for -, * for +, / for *, a sign lost
//	binding     another variable of the same type
//	constant    another number
//	statement   an assignment or call dropped
//
// A changed text that breaks the rules of WGSL is no site, nor is one that an operator earlier in that list has made already. Nor are
// changes that, by the form of the text alone, change nothing: of the condition of an if whose branches are equal, and of the sign of
// bytes that a mask takes it from. Each site changes one line, but for a dropped statement, which takes its line away.
//
// Vocabulary:
//   - site: a place of a text at which one operator makes one mistake;
//   - mutant: a text with the mistake of one site;
//   - killed: said of a mutant that some check finds fault with; the others survive.
package mutate
