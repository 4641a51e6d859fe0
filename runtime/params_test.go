package kgenrt

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// What kernels are proved never to see doesn't get into the params block, whoever asks for it.
func TestRecordsKeepTheirRanges(t *testing.T) {
	e, a := abacusEngine(t, abacusPlan(t, nil), EngineOptions{})
	for _, c := range []struct {
		pos, replays int
		token        uint32
		next         []uint32
		refused      string
	}{
		{0, 1, 0, nil, ""},
		{abacusContext - 1, 1, abacusVocab - 1, nil, ""},
		{0, abacusContext, 0, make([]uint32, abacusRing), ""},
		{-1, 1, 0, nil, "1 tokens from position -1"},
		{abacusContext, 1, 0, nil, "do not fit the context"},
		{3, abacusContext - 2, 0, nil, "do not fit the context"},
		{3, math.MaxInt, 0, nil, "do not fit the context"},
		{3, 0, 0, nil, "0 tokens"},
		{0, 1, abacusVocab, nil, "token id 10"},
		{0, 2, 0, []uint32{1, abacusVocab}, "token id 10"},
		{0, 21, 0, make([]uint32, abacusRing+1), "21 tokens do not fit the ring of 20"},
	} {
		a.calls = 0
		err := e.writeRecord(c.pos, c.replays, c.token, c.next)
		var typed *Error
		switch {
		case c.refused == "" && (err != nil || a.calls == 0):
			t.Errorf("%+v: %v", c, err)
		case c.refused != "" && (!errors.As(err, &typed) || !strings.Contains(err.Error(), c.refused) || a.calls > 0):
			t.Errorf("%+v: %v after %d writes", c, err, a.calls)
		}
	}
}

// A plan whose params block is not what kernels are proved for is refused before anything is made of it.
func TestParamsFitTheCache(t *testing.T) {
	for text, change := range map[string]func(*plan.Plan){
		"3 page ids for 2 pages":                 func(p *plan.Plan) { p.KV.Pages = 2 },
		"context of 97 does not fit its 3 pages": func(p *plan.Plan) { p.Context = 97 },
		"context of 70 does not fit its 3 pages": func(p *plan.Plan) { p.KV.PageTokens = 23 },
		"context of 64 does not fit its 1 pages": func(p *plan.Plan) { p.Params.Pages, p.Context = 1, 64 },
		"":                                       func(p *plan.Plan) { p.Context = 96 },
		"for 2 sequences":                        func(p *plan.Plan) { p.Params.Sequences = 2 },
		"for 0 sequences":                        func(p *plan.Plan) { p.Params.Sequences = 0 },
		"pages and ring of":                      func(p *plan.Plan) { p.Params.PagesAt = 7 },
		"pages and ring":                         func(p *plan.Plan) { p.Params.RingAt = 10 },
		"and ring":                               func(p *plan.Plan) { p.Params.PagesAt = math.MaxInt },
		"or there are none":                      func(p *plan.Plan) { p.Params.Ring = 0 },
		"there are none":                         func(p *plan.Plan) { p.Params.Pages = 0 },
		"does not hold its ring":                 func(p *plan.Plan) { p.Params.Ring++ },
		"not hold its ring":                      func(p *plan.Plan) { p.Params.Ring = math.MaxInt / 2 },
		"a vocabulary of 0":                      func(p *plan.Plan) { p.Vocab = 0 },
		"a context of 0":                         func(p *plan.Plan) { p.Context = 0 },
		"a context of 9223372036854775807":       func(p *plan.Plan) { p.Context = math.MaxInt },
	} {
		p := abacusPlan(t, nil)
		change(p)
		a := newAbacus()
		a.ring = p.Params.Ring
		_, err := NewEngine(t.Context(), p, a, tensors{}, EngineOptions{})
		if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
}
