package tokenizer

// trie finds the special tokens in a text. Node 0 is the root.
type trie struct {
	nodes  []trieNode
	begins [256]bool // bytes that a token begins with
}

type trieNode struct {
	children map[byte]uint32
	id       uint32
	ends     bool // a token ends here
	trusted  bool // and it is recognised in trusted text only
}

func newTrie(v *Vocab) trie {
	t := trie{nodes: make([]trieNode, 1)}
	for id, text := range v.Tokens {
		if kind := v.kind(id); text != "" && (kind == Control || kind == Unknown || kind == UserDefined) {
			t.add(text, uint32(id), kind != UserDefined)
		}
	}
	return t
}

func (t *trie) add(text string, id uint32, trusted bool) {
	t.begins[text[0]] = true
	at := uint32(0)
	for i := range len(text) {
		next, ok := t.nodes[at].children[text[i]]
		if !ok {
			next = uint32(len(t.nodes))
			t.nodes = append(t.nodes, trieNode{})
			if t.nodes[at].children == nil {
				t.nodes[at].children = make(map[byte]uint32)
			}
			t.nodes[at].children[text[i]] = next
		}
		at = next
	}
	node := &t.nodes[at]
	node.id, node.ends, node.trusted = id, true, trusted
}

// longest finds the longest token at text[at:] and its length in bytes, 0 when there is none. untrusted are the
// ranges that end behind at.
func (t *trie) longest(text string, at int, untrusted [][2]int) (id uint32, length int) {
	if !t.begins[text[at]] {
		return 0, 0
	}
	trustedUntil := len(text)
	for _, span := range untrusted {
		if span[0] < span[1] {
			trustedUntil = span[0]
			break
		}
	}
	node := &t.nodes[0]
	for i := at; i < len(text); i++ {
		next, ok := node.children[text[i]]
		if !ok {
			break
		}
		node = &t.nodes[next]
		if node.ends && (!node.trusted || i < trustedUntil) {
			id, length = node.id, i+1-at
		}
	}
	return id, length
}
