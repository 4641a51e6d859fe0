package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: smollm2 MODEL QUESTION")
	}
	ctx := context.Background()
	model, err := kgen.Load(ctx, os.Args[1], kgen.Options{
		Variants: smollm2_135m.Variants(), Exact: true, Log: func(message string) { log.Print(message) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	began, tokens := time.Now(), 0
	question := []kgen.Message{{Role: "user", Content: os.Args[2]}}
	for piece, err := range session.Chat(ctx, question, kgen.Generation{MaxTokens: 48}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(piece.Text)
		tokens += len(piece.IDs)
	}
	fmt.Println()
	stats, seconds := model.Stats(), time.Since(began).Seconds()
	log.Printf("%d tokens in %.1f s, prompt included, with %d dispatches in %d submits on %s, path %s",
		tokens, seconds, stats.Dispatches, stats.Submits, model.Device().Name, model.Path())
}
