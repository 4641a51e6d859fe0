package kgenrt

import (
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// What kernels without bounds checks are proved for is written and checked here: docs/bounds.md says which words hold what.

// writePages gives the sequence all pages of the cache, in order. The ring is written too: kernels read the entry after the last.
func (e *Engine) writePages() error {
	p := e.plan.Params
	pages := make([]byte, (p.Words()-p.PagesAt)*4)
	for i := range p.Pages {
		putU32(pages[i*4:], uint32(i))
	}
	return Wrap("write the page table", e.writeParams(p.PagesAt, pages))
}

func (e *Engine) writeParams(word int, data []byte) error {
	to := e.plan.Params.Range
	return e.backend.Write(e.buffers[to.Buffer], to.Offset+uint64(word)*4, data)
}

// writeRecord tells the kernels which token to feed where in the first of a number of replays, and what the ring holds: the tokens to
// feed after it.
func (e *Engine) writeRecord(pos, replays int, token uint32, next []uint32) error {
	p := e.plan.Params
	if err := e.checkRecord(pos, replays, token, next); err != nil {
		return err
	}
	if len(next) > 0 {
		if err := e.writeParams(p.RingAt, words(next...)); err != nil {
			return err
		}
	}
	var record [plan.ParamsRecordWords]uint32
	record[plan.ParamsToken] = token
	record[plan.ParamsPos] = uint32(pos)
	record[plan.ParamsLen] = uint32(pos + 1)
	record[plan.ParamsPages] = uint32(p.PagesAt)
	record[plan.ParamsOut] = uint32(p.RingAt)
	return e.writeParams(0, words(record[:]...))
}

// checkRecord refuses what kernels without bounds checks are proved never to see. Who asks for such a thing is told earlier; here it
// would be a mistake of the runtime, or ids that a broken device gave.
func (e *Engine) checkRecord(pos, replays int, token uint32, next []uint32) error {
	if pos < 0 || replays < 1 || replays > e.plan.Context-pos {
		return newError(BadRequest, strconv.Itoa(replays)+" tokens from position "+strconv.Itoa(pos)+" on do not fit the context of "+strconv.Itoa(e.plan.Context), nil)
	}
	if len(next) > e.plan.Params.Ring {
		return newError(BadRequest, strconv.Itoa(len(next))+" tokens do not fit the ring of "+strconv.Itoa(e.plan.Params.Ring), nil)
	}
	if err := e.checkTokens([]uint32{token}); err != nil {
		return err
	}
	return e.checkTokens(next)
}

// mostWords bounds what the words of the params block count: they are u32, and so are numbers of words.
const mostWords = 1<<31 - 1

// checkParams refuses plans whose params block can't hold what their kernels are proved for: a Builder makes none that doesn't fit its
// buffer, but a Plan may be written by hand.
func checkParams(p *plan.Plan) error {
	b := p.Params
	records := plan.ParamsRecordWords
	switch {
	case b.Sequences != 1:
		return newError(BadRequest, "the plan is for "+strconv.Itoa(b.Sequences)+" sequences, and an engine runs one", nil)
	case b.PagesAt < records || b.Pages < 1 || b.RingAt < b.PagesAt || b.Pages > b.RingAt-b.PagesAt || b.Ring < 1:
		return newError(BadRequest, "records, pages and ring of the plan's params block overlap, or there are none", nil)
	case b.RingAt > mostWords || b.Ring > mostWords || uint64(b.Words())*4 > b.Range.Bytes:
		return newError(BadRequest, "the plan's params block of "+strconv.FormatUint(b.Range.Bytes, 10)+" bytes does not hold its ring", nil)
	case p.Vocab < 1 || p.Vocab > mostWords || p.Context < 1 || p.Context > mostWords:
		return newError(BadRequest, "the plan has a vocabulary of "+strconv.Itoa(p.Vocab)+" and a context of "+strconv.Itoa(p.Context), nil)
	case b.Pages > p.KV.Pages:
		return newError(BadRequest, "the plan has "+strconv.Itoa(b.Pages)+" page ids for "+strconv.Itoa(p.KV.Pages)+" pages", nil)
	case (p.Context-1)/max(p.KV.PageTokens, 1) >= b.Pages:
		return newError(BadRequest, "the plan's context of "+strconv.Itoa(p.Context)+" does not fit its "+strconv.Itoa(b.Pages)+" pages", nil)
	}
	return nil
}

// check refuses tokens and positions that the kernels rely on never to see.
func (e *Engine) check(start int, tokens []uint32, more int) error {
	if start < 0 || start > e.filled {
		return newError(BadRequest, "position "+strconv.Itoa(start)+" does not follow the "+strconv.Itoa(e.filled)+" positions fed so far", nil)
	}
	if more < 0 {
		return newError(BadRequest, "the number of tokens to decode is below 1", nil)
	}
	if left := e.plan.Context - start; len(tokens) > left || more > left-len(tokens) {
		return newError(ContextFull, strconv.Itoa(len(tokens)+more)+" tokens from position "+strconv.Itoa(start)+" on do not fit the context of "+strconv.Itoa(e.plan.Context), nil)
	}
	return e.checkTokens(tokens)
}

func (e *Engine) checkTokens(tokens []uint32) error {
	for _, t := range tokens {
		if int64(t) >= int64(e.plan.Vocab) {
			return newError(BadRequest, "token id "+strconv.FormatUint(uint64(t), 10)+" is not below the vocabulary size, "+strconv.Itoa(e.plan.Vocab), nil)
		}
	}
	return nil
}
