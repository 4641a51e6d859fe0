package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/kgen-wgsl/kgen"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: chat MODEL QUESTION")
	}
	ctx := context.Background()
	model, err := kgen.Load(ctx, os.Args[1], kgen.Options{Exact: true})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	question := []kgen.Message{{Role: "user", Content: os.Args[2]}}
	for piece, err := range session.Chat(ctx, question, kgen.Generation{MaxTokens: 32}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(piece.Text)
	}
	fmt.Println()
}
