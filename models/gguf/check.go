package gguf

import (
	"math"
	"strconv"
)

const maxArchitecture = 64 // bytes; names in use have up to 20

// CheckModel judges what the keys of a model say, as far as all architectures with attention agree on it, so that a builder need
// not fear zeros, huge counts or ids beyond a table. The error names the first key at fault. Whether the tensors that an architecture
// needs are there, and in the right shapes, is for its builder to say.
func CheckModel(f *File) error {
	arch, err := f.String("general.architecture")
	if err != nil {
		return err
	}
	c := &checker{file: f, arch: arch}
	if len(arch) > maxArchitecture {
		c.arch = ""
		c.fail(ClassStringLength, "general.architecture", "a name of "+strconv.Itoa(len(arch))+" bytes, at most "+strconv.Itoa(maxArchitecture)+" are supported")
	}
	layers := c.layers()
	embedding := c.positive("embedding_length")
	c.positive("context_length")
	c.heads(layers, embedding)
	c.experts()
	c.constants()
	c.vocabulary()
	return c.err
}

// checker reads keys and keeps the first error. After one, the values it reads are 0.
type checker struct {
	file *File
	arch string
	err  error
}

// key returns the full name of one of the architecture's keys.
func (c *checker) key(name string) string { return c.arch + "." + name }

// fail records that the value of a key is wrong.
func (c *checker) fail(class Class, key, detail string) {
	if c.err != nil {
		return
	}
	c.err = &Error{Class: class, Field: printable(key), Offset: -1, Detail: detail}
	if e, err := c.file.Entry(key); err == nil {
		c.err = e.error(class, detail)
	}
}

func (c *checker) failHyper(name, detail string) { c.fail(ClassBadHyperparameter, c.key(name), detail) }

// positive reads an integer of at least 1.
func (c *checker) positive(name string) int {
	if c.err != nil {
		return 0
	}
	n, err := c.file.Int(c.key(name))
	if err != nil {
		c.err = err
	} else if n < 1 {
		c.failHyper(name, strconv.Itoa(n)+", want 1 or more")
	}
	return n
}

// optional reads an integer of at least least, 0 if the key is missing.
func (c *checker) optional(name string, least int) int {
	if c.err != nil || !c.file.Has(c.key(name)) {
		return 0
	}
	n, err := c.file.Int(c.key(name))
	if err != nil {
		c.err = err
	} else if n < least {
		c.failHyper(name, strconv.Itoa(n)+", want "+strconv.Itoa(least)+" or more")
	}
	return n
}

// layers checks the number of layers. Each has at least one tensor, so that a count beyond the tensors would only make loops
// over layers long.
func (c *checker) layers() int {
	n := c.positive("block_count")
	if tensors := len(c.file.tensors); n > tensors {
		c.failHyper("block_count", strconv.Itoa(n)+" layers in a file of "+strconv.Itoa(tensors)+" tensors")
	}
	return n
}

// perLayer reads a key that has one value or one for each layer. A single value is at least 1; in an array 0 marks layers
// without attention.
func (c *checker) perLayer(name string, layers int) []int {
	if c.err != nil {
		return nil
	}
	counts, err := c.file.IntPerLayer(c.key(name), layers)
	if err != nil {
		c.err = err
		return nil
	}
	least := 0
	if e, _ := c.file.Entry(c.key(name)); e.Type != Array {
		least = 1
	}
	for _, n := range counts {
		if n < least || n > math.MaxInt32 {
			c.failHyper(name, strconv.Itoa(n)+" heads")
		}
	}
	return counts
}

// heads checks that query heads share key heads evenly and that rotations fit into a head.
func (c *checker) heads(layers, embedding int) {
	heads := c.perLayer("attention.head_count", layers)
	if c.file.Has(c.key("attention.head_count_kv")) {
		kv := c.perLayer("attention.head_count_kv", layers)
		for i := 0; i < len(kv) && c.err == nil; i++ {
			if kv[i] > 0 && heads[i]%kv[i] != 0 {
				c.failHyper("attention.head_count_kv", strconv.Itoa(kv[i])+" key heads do not divide "+strconv.Itoa(heads[i])+" heads")
			}
		}
	}
	size := c.optional("attention.key_length", 1)
	c.optional("attention.value_length", 1)
	for _, n := range heads {
		if c.err != nil || n == 0 || c.file.Has(c.key("attention.key_length")) {
			continue
		}
		if embedding%n != 0 {
			c.failHyper("attention.head_count", strconv.Itoa(n)+" heads do not divide an embedding of "+strconv.Itoa(embedding))
		}
		size = embedding / n
	}
	rotated := c.optional("rope.dimension_count", 0)
	if rotated%2 != 0 || rotated > size {
		c.failHyper("rope.dimension_count", strconv.Itoa(rotated)+", want an even number up to the head's "+strconv.Itoa(size))
	}
}

// experts checks that a token uses some and no more experts than there are.
func (c *checker) experts() {
	n := c.optional("expert_count", 0)
	used := c.optional("expert_used_count", 0)
	if used > n || n > 0 && used == 0 {
		c.failHyper("expert_used_count", strconv.Itoa(used)+" of "+strconv.Itoa(n)+" experts")
	}
}

// constants checks the numbers that norms and rotations divide by.
func (c *checker) constants() {
	rms, plain := c.key("attention.layer_norm_rms_epsilon"), c.key("attention.layer_norm_epsilon")
	if c.err == nil && !c.file.Has(rms) && !c.file.Has(plain) {
		_, c.err = c.file.Entry(rms)
	}
	c.between(rms, 0, 1)
	c.between(plain, 0, 1)
	c.between(c.key("rope.freq_base"), 1, math.MaxFloat32)
	c.between(c.key("rope.freq_base_swa"), 1, math.MaxFloat32)
}

// between checks a number, if it is there, to lie within the limits and on neither. NaN lies nowhere.
func (c *checker) between(key string, low, high float64) {
	if c.err != nil || !c.file.Has(key) {
		return
	}
	x, err := c.file.Float(key)
	if err != nil {
		c.err = err
	} else if !(x > low && x < high) {
		c.fail(ClassBadHyperparameter, key, strconv.FormatFloat(x, 'g', -1, 64)+", want more than "+
			strconv.FormatFloat(low, 'g', -1, 64)+" and less than "+strconv.FormatFloat(high, 'g', -1, 64))
	}
}
