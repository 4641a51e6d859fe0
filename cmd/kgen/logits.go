package main

import (
	"context"
	"fmt"
	"math"

	"github.com/kgen-wgsl/kgen"
	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

type logitsVerb struct {
	deviceFlags
	IDs    string `name:"ids" required:"" placeholder:"1,2,3" help:"The tokens."`
	All    bool   `help:"Logits after every token, not only the last."`
	Layers bool   `help:"Add the RMS of the residual stream before every layer and after the last."`
}

func (logitsVerb) Help() string {
	return `Example:

  kgen logits model.gguf --ids 504,2060 --json --device cpu

prints {"n_vocab":49152,"logits":[...]}. With --all, "logits" holds a row for every token. With --layers,
"layer_rms_all" holds the RMS over all tokens and "layer_rms_last" over the last one, entry 0 before layer 0.`
}

// logitsResult is what --json prints.
type logitsResult struct {
	Vocab        int       `json:"n_vocab"`
	Logits       any       `json:"logits"`
	LayerRMSAll  []float64 `json:"layer_rms_all,omitempty"`
	LayerRMSLast []float64 `json:"layer_rms_last,omitempty"`
}

func (v *logitsVerb) Run(ctx context.Context, t *terminal) error {
	ids, err := parseIDs(v.IDs)
	if err != nil {
		return err
	}
	m, err := v.load(ctx, t, kgen.Options{Trace: v.Layers}, func(f *kgen.File) error { return v.checkIDs(f, ids, len(ids)) })
	if err != nil {
		return err
	}
	defer m.Close()
	return t.judged(m, v.show(ctx, t, m, ids))
}

func (v *logitsVerb) show(ctx context.Context, t *terminal, m *kgen.Model, ids []uint32) error {
	result, err := v.compute(ctx, m, ids)
	if err != nil {
		return err
	}
	if pos := firstNotFinite(result.Logits); pos >= 0 {
		return notFinite(pos)
	}
	if v.JSON {
		return t.printJSON(result)
	}
	return v.print(t, result)
}

func (v *logitsVerb) compute(ctx context.Context, m *kgen.Model, ids []uint32) (*logitsResult, error) {
	exec := m.Executor()
	r := &logitsResult{Vocab: exec.Vocab()}
	if v.All {
		var rows [][]float32
		err := kgenrt.LogitsAll(ctx, exec, 0, ids, func(_ int, logits []float32) bool {
			rows = append(rows, append([]float32(nil), logits...))
			return true
		})
		if err != nil {
			return nil, err
		}
		r.Logits = rows
	} else {
		last := len(ids) - 1
		if last > 0 {
			if err := exec.Prefill(ctx, 0, ids[:last]); err != nil {
				return nil, err
			}
		}
		logits := make([]float32, exec.Vocab())
		if err := exec.Logits(ctx, last, ids[last], logits); err != nil {
			return nil, err
		}
		r.Logits = logits
	}
	if !v.Layers {
		return r, nil
	}
	var err error
	r.LayerRMSAll, r.LayerRMSLast, err = layerRMS(ctx, exec, ids)
	return r, err
}

// layerRMS returns the root of the mean square of the residual stream that enters each layer, and of what leaves the last.
func layerRMS(ctx context.Context, exec kgenrt.Executor, ids []uint32) (all, last []float64, err error) {
	tracer, ok := exec.(kgenrt.TraceExecutor)
	if !ok {
		return nil, nil, usagef("--layers: this device does not show the residual stream")
	}
	var counts []int
	err = tracer.Trace(ctx, 0, ids, func(pos, layer int, residual []float32) bool {
		for len(all) <= layer {
			all, last, counts = append(all, 0), append(last, 0), append(counts, 0)
		}
		sum := 0.0
		for _, x := range residual {
			sum += float64(x) * float64(x)
		}
		all[layer] += sum
		counts[layer] += len(residual)
		if pos == len(ids)-1 {
			last[layer] = math.Sqrt(sum / float64(len(residual)))
		}
		return true
	})
	for i := range all {
		all[i] = math.Sqrt(all[i] / float64(counts[i]))
	}
	return all, last, err
}

// finite reports whether a value is a number that JSON can hold.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// notFinite is the error for logits that are no numbers: weights that hold NaN or infinities make them so.
func notFinite(pos int) error {
	return &kgenrt.Error{Code: kgenrt.InvalidModel, Message: fmt.Sprintf("the logits after token %d are not finite: some weight of the model is not", pos)}
}

// print shows the likeliest tokens of the last position or of every one, for people.
func (v *logitsVerb) print(t *terminal, r *logitsResult) error {
	rows, all := r.Logits.([][]float32)
	if !all {
		rows = [][]float32{r.Logits.([]float32)}
	}
	for pos, logits := range rows {
		if all {
			fmt.Fprintf(t.stdout, "after token %d\n", pos)
		}
		for _, id := range largest(logits, 10) {
			fmt.Fprintf(t.stdout, "%8d %12.5f\n", id, logits[id])
		}
	}
	for i := range r.LayerRMSLast {
		fmt.Fprintf(t.stdout, "layer %3d  rms of all tokens %.6g, of the last %.6g\n", i, r.LayerRMSAll[i], r.LayerRMSLast[i])
	}
	return nil
}

// firstNotFinite returns the first row with a value that is no finite number, -1 for none.
func firstNotFinite(logits any) int {
	rows, all := logits.([][]float32)
	if !all {
		rows = [][]float32{logits.([]float32)}
	}
	for i, row := range rows {
		for _, x := range row {
			if !finite(float64(x)) {
				return i
			}
		}
	}
	return -1
}

// largest returns the indices of the n largest values, falling, the lowest index first among equals.
func largest(values []float32, n int) []int {
	var top []int
	for i := range values {
		at := len(top)
		for at > 0 && values[i] > values[top[at-1]] {
			at--
		}
		if at < n {
			top = append(top[:at], append([]int{i}, top[at:]...)...)
			top = top[:min(n, len(top))]
		}
	}
	return top
}

type scoreVerb struct {
	deviceFlags
	IDs  string `name:"ids" placeholder:"1,2,3" xor:"text" help:"The tokens."`
	File string `placeholder:"PATH" xor:"text" help:"A file with the text; - is standard input."`
}

func (scoreVerb) Help() string {
	return `Example:

  kgen score model.gguf --file story.txt --json

prints {"nll":[...],"mean_nll":3.46,"ppl":31.9}: the negative log-likelihood of each token after the first, in nats.`
}

func (v *scoreVerb) Run(ctx context.Context, t *terminal) error {
	if (v.IDs == "") == (v.File == "") {
		return usagef("give either --ids or --file")
	}
	var ids []uint32
	m, err := v.load(ctx, t, kgen.Options{}, func(f *kgen.File) (err error) {
		if ids, err = v.tokens(t, f); err != nil {
			return err
		}
		if len(ids) < 2 {
			return usagef("a text of %d tokens has no likelihood; it takes 2", len(ids))
		}
		return v.checkIDs(f, ids, len(ids)-1)
	})
	if err != nil {
		return err
	}
	defer m.Close()
	return t.judged(m, v.score(ctx, t, m, ids))
}

func (v *scoreVerb) score(ctx context.Context, t *terminal, m *kgen.Model, ids []uint32) error {
	var nll []float64
	sum := 0.0
	err := kgenrt.LogitsAll(ctx, m.Executor(), 0, ids[:len(ids)-1], func(pos int, logits []float32) bool {
		nll = append(nll, logSumExp(logits)-float64(logits[ids[pos+1]]))
		sum += nll[len(nll)-1]
		return finite(nll[len(nll)-1])
	})
	if err != nil {
		return err
	}
	if !finite(sum) {
		return notFinite(len(nll) - 1)
	}
	mean := sum / float64(len(nll))
	if v.JSON {
		return t.printJSON(map[string]any{"nll": nll, "mean_nll": mean, "ppl": math.Exp(mean)})
	}
	fmt.Fprintf(t.stdout, "tokens      %d\nmean nll    %.6f\nperplexity  %.4f\n", len(nll), mean, math.Exp(mean))
	return nil
}

func (v *scoreVerb) tokens(t *terminal, f *kgen.File) ([]uint32, error) {
	if v.IDs != "" {
		return parseIDs(v.IDs)
	}
	text, err := t.readText("--file", v.File)
	if err != nil {
		return nil, err
	}
	tk, err := f.Tokenizer()
	if err != nil {
		return nil, err
	}
	return tk.Encode(text, false), nil
}

func logSumExp(x []float32) float64 {
	top := float64(x[0])
	for _, v := range x {
		top = max(top, float64(v))
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}
