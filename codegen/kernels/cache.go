package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// checkCache refuses a cache without pages.
func checkCache(kv plan.KV) error {
	if kv.PageTokens <= 0 || kv.Pages <= 0 {
		return fmt.Errorf("a cache of %d pages of %d tokens", kv.Pages, kv.PageTokens)
	}
	return nil
}

// cacheElements is the elements of the keys, or of the values, of a layer, with the given number for each token.
func cacheElements(kv plan.KV, token int) int { return kv.Pages * kv.PageTokens * token }

func cacheName(kv plan.KV) string {
	if kv.F16 {
		return "f16"
	}
	return "f32"
}

// slot declares slot, the element of both caches where a position starts: the page comes from params, and one
// that doesn't exist is taken for the last.
func slot(m *wgsl.Module, kv plan.KV, position string, token int) {
	m.Let("page", "min(%s[%s[%du] + %s / %du], %du)", Params, Params, plan.ParamsPages, position, kv.PageTokens, kv.Pages-1)
	m.Let("slot", "(page * %du + %s %% %du) * %du", kv.PageTokens, position, kv.PageTokens, token)
}
