package kgen_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/kgen-wgsl/kgen"
	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// Two turns of a conversation: the second reuses what the first left in the KV cache.
func Example() {
	ctx := context.Background()
	model, err := kgen.Load(ctx, "model.gguf", kgen.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	messages := []kgen.Message{{Role: "user", Content: "Name a river."}}
	for _, next := range []string{"Where does it end?", ""} {
		answer := ""
		for piece, err := range session.Chat(ctx, messages, kgen.Generation{Sampling: model.File().Sampling()}) {
			if err != nil {
				log.Fatal(err)
			}
			answer += piece.Text
		}
		fmt.Println(answer)
		messages = append(messages, kgen.Message{Role: "assistant", Content: answer}, kgen.Message{Role: "user", Content: next})
	}
}

// Errors have codes that programs can match on.
func ExampleError() {
	_, err := kgen.Load(context.Background(), "absent.gguf", kgen.Options{})
	var e *kgen.Error
	if errors.As(err, &e) && e.Code == kgenrt.NoModel {
		fmt.Println(e.Code, "-", e.Code.Info().Fix)
	}
	// Output: NO_MODEL - check the path; `make setup` fetches the demo model
}
