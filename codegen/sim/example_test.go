package sim_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// A reduction runs with every size of subgroups: nothing is found, and the sums are right.
func ExampleProgram_Run() {
	text, err := os.ReadFile("../../examples/kernels/reduce.wgsl")
	if err != nil {
		log.Fatal(err)
	}
	file, err := wgsl.Parse("reduce.wgsl", string(text))
	if err != nil {
		log.Fatal(err) // file, line, column and what is wrong there
	}
	program, err := sim.Compile(file, "main")
	if err != nil {
		log.Fatal(err)
	}
	var ones []byte
	for range 1500 {
		ones = binary.LittleEndian.AppendUint32(ones, math.Float32bits(1))
	}
	for _, size := range sim.SubgroupSizes() {
		values, sums := sim.NewBuffer("values", 6000, true), sim.NewBuffer("sums", 8, true)
		values.Write(0, ones)
		result, err := program.Run(context.Background(), [3]int{2, 1, 1}, []sim.Binding{
			{Binding: 0, Buffer: values, Bytes: values.Size()},
			{Binding: 1, Buffer: sums, Bytes: sums.Size()},
		}, sim.Options{SubgroupSize: size})
		if err != nil {
			log.Fatal(err)
		}
		for _, finding := range result.Findings {
			fmt.Println(finding)
		}
		data := sums.Read(0, 8)
		fmt.Println(size, math.Float32frombits(binary.LittleEndian.Uint32(data)), math.Float32frombits(binary.LittleEndian.Uint32(data[4:])))
	}
	// Output:
	// 4 1024 476
	// 8 1024 476
	// 16 1024 476
	// 32 1024 476
	// 64 1024 476
	// 128 1024 476
}
