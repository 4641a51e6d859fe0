// Package oracle holds what independent implementations answer on models, and compares executors with it. Only tests
// import it.
//
// A [Model] is a model file with answers for some prompts. [Model.Check] puts the prompts to an [Executor], the graph
// evaluator or a device, and fails the test where a number is outside the [Limits] of the executor's path. Greedy ids
// may differ at a near tie, where the two best logits are less than 0.05 apart, and after it.
package oracle
