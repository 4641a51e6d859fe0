package tokenizer

// preTokenizer is the treatment of text before merging.
type preTokenizer struct {
	// next measures the first word of a non-empty text, in bytes.
	next func(text string) int
	// nfc tells that the family's tokenizer normalises text to NFC first.
	nfc bool
}

// pres lists the known values of tokenizer.ggml.pre. Names of one group cut alike; whether a family normalises is
// its own affair, and llama.cpp never does.
var pres = map[string]preTokenizer{
	"gpt-2":       {next: nextGPT2},
	"phi-2":       {next: nextGPT2},
	"jais":        {next: nextGPT2},
	"mellum":      {next: nextGPT2},
	"mpt":         {next: nextGPT2, nfc: true},
	"olmo":        {next: nextGPT2, nfc: true},
	"modern-bert": {next: nextGPT2, nfc: true},

	"smollm":    {next: nextDigitsApart},
	"starcoder": {next: nextDigitsApart},
	"refact":    {next: nextDigitsApart},
	"codeshell": {next: nextDigitsApart},
	"exaone":    {next: nextDigitsApart},
	"minerva":   {next: nextDigitsApart},
	"command-r": {next: nextDigitsApart, nfc: true},

	"qwen2":            {next: nextQwen2, nfc: true},
	"deepseek-r1-qwen": {next: nextQwen2},
	"stablelm2":        {next: nextQwen2},
	"hunyuan":          {next: nextQwen2},
	"solar-open":       {next: nextQwen2},
	"grok-2":           {next: nextQwen2},
}
