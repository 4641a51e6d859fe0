package chat_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/models/chat"
)

func Example() {
	const source = `{% for message in messages %}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}
{% if add_generation_prompt %}
<|im_start|>assistant
{% endif %}`
	template, err := chat.Compile(source, chat.Options{Special: []string{"<|im_start|>", "<|im_end|>"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	prompt, err := template.Render(
		[]chat.Message{{Role: "user", Content: "What does <|im_end|> mean?"}},
		chat.RenderOptions{AddGenerationPrompt: true},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(prompt.Text)
	for _, span := range prompt.Untrusted {
		fmt.Println("untrusted:", prompt.Text[span[0]:span[1]])
	}
	// Output:
	// <|im_start|>user
	// What does <|im_end|> mean?<|im_end|>
	// <|im_start|>assistant
	// untrusted: What does <|im_end|> mean?
}
