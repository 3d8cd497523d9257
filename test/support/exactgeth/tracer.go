package main

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/eth/tracers"
	"github.com/ethereum/go-ethereum/params"
)

// frame is a trace in Parity's form. Members that a type does not have are nil.
type frame struct {
	Action              map[string]any `json:"action"`
	BlockHash           common.Hash    `json:"blockHash"`
	BlockNumber         uint64         `json:"blockNumber"`
	Error               string         `json:"error,omitempty"`
	Result              map[string]any `json:"result"`
	Subtraces           int            `json:"subtraces"`
	TraceAddress        []int          `json:"traceAddress"`
	TransactionHash     common.Hash    `json:"transactionHash"`
	TransactionPosition int            `json:"transactionPosition"`
	Type                string         `json:"type"`

	to       common.Address
	children []*frame
}

var errorNames = []struct {
	err  error
	name string
}{
	{vm.ErrExecutionReverted, "Reverted"},
	{vm.ErrOutOfGas, "Out of gas"},
	{vm.ErrCodeStoreOutOfGas, "Out of gas"},
	{vm.ErrGasUintOverflow, "Out of gas"},
	{vm.ErrMaxCodeSizeExceeded, "Out of gas"},
	{vm.ErrMaxInitCodeSizeExceeded, "Out of gas"},
	{vm.ErrInvalidJump, "Bad jump destination"},
	{vm.ErrInvalidCode, "Invalid code"},
	{vm.ErrReturnDataOutOfBounds, "Out of bounds"},
	{vm.ErrContractAddressCollision, "Contract address collision"},
	{vm.ErrNonceUintOverflow, "Nonce overflow"},
}

// exactTracer returns the frames of a transaction with the gas of each frame as the EVM reports it, also of the root.
// It builds Parity's form itself, and shares no code with the tracers that Floodgate reads.
type exactTracer struct {
	context     *tracers.Context
	rules       func(*tracing.VMContext) params.Rules
	precompiles []common.Address
	open        []*frame
	root        *frame
	stopped     error
}

func newExactTracer(context *tracers.Context, _ json.RawMessage, config *params.ChainConfig) (*tracers.Tracer, error) {
	t := &exactTracer{context: context, rules: func(env *tracing.VMContext) params.Rules {
		return config.Rules(env.BlockNumber, env.Random != nil, env.Time)
	}}
	hooks := &tracing.Hooks{OnTxStart: t.onTxStart, OnEnter: t.onEnter, OnExit: t.onExit}
	return &tracers.Tracer{Hooks: hooks, GetResult: t.result, Stop: func(err error) { t.stopped = err }}, nil
}

func (t *exactTracer) onTxStart(env *tracing.VMContext, _ *types.Transaction, _ common.Address) {
	t.precompiles = vm.ActivePrecompiles(t.rules(env))
}

func (t *exactTracer) onEnter(_ int, typ byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
	if value == nil {
		value = new(big.Int)
	}
	data := hexutil.Bytes(slices.Clone(input))
	action := map[string]any{"from": from, "gas": hexutil.Uint64(gas), "value": (*hexutil.Big)(value)}
	kind := "call"
	switch op := vm.OpCode(typ); op {
	case vm.CREATE, vm.CREATE2:
		kind = "create"
		action["init"] = data
		action["creationMethod"] = map[vm.OpCode]string{vm.CREATE: "create", vm.CREATE2: "create2"}[op]
	case vm.SELFDESTRUCT:
		kind = "suicide"
		action = map[string]any{"address": from, "refundAddress": to, "balance": (*hexutil.Big)(value)}
	default:
		action["to"] = to
		action["input"] = data
		action["callType"] = map[vm.OpCode]string{
			vm.CALL: "call", vm.CALLCODE: "callcode", vm.DELEGATECALL: "delegatecall", vm.STATICCALL: "staticcall",
		}[op]
	}
	t.open = append(t.open, &frame{Action: action, Type: kind, to: to})
}

func (t *exactTracer) onExit(depth int, output []byte, gasUsed uint64, err error, _ bool) {
	last := len(t.open) - 1
	f := t.open[last]
	t.open = t.open[:last]
	isPrecompile := f.Type == "call" && slices.Contains(t.precompiles, f.to)
	f.Error = nameOf(err, isPrecompile)
	if f.Type != "suicide" && (err == nil || errors.Is(err, vm.ErrExecutionReverted)) {
		f.Result = map[string]any{"gasUsed": hexutil.Uint64(gasUsed)}
		data := hexutil.Bytes(slices.Clone(output))
		if f.Type == "create" && err == nil {
			f.Result["address"], f.Result["code"] = f.to, data
		} else {
			f.Result["output"] = data
		}
	}
	if depth == 0 {
		t.root = f
		return
	}
	neverRan := errors.Is(err, vm.ErrDepth) || errors.Is(err, vm.ErrInsufficientBalance)
	value, _ := f.Action["value"].(*hexutil.Big)
	if !neverRan && !(isPrecompile && value.ToInt().Sign() == 0) {
		parent := t.open[last-1]
		parent.children = append(parent.children, f)
	}
}

// nameOf returns Parity's name of an error.
func nameOf(err error, isPrecompile bool) string {
	if err == nil {
		return ""
	}
	if isPrecompile && !errors.Is(err, vm.ErrOutOfGas) {
		return "Built-in failed"
	}
	// geth joins the reason to "out of gas" as text if it finds it while it computes the gas of a step.
	if strings.HasSuffix(err.Error(), vm.ErrWriteProtection.Error()) {
		return "Mutable Call In Static Context"
	}
	for _, known := range errorNames {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	var (
		underflow *vm.ErrStackUnderflow
		overflow  *vm.ErrStackOverflow
		opcode    *vm.ErrInvalidOpCode
	)
	switch {
	case errors.As(err, &underflow):
		return "Stack underflow"
	case errors.As(err, &overflow):
		return "Out of stack"
	case errors.As(err, &opcode):
		return "Bad instruction"
	}
	return err.Error()
}

func (t *exactTracer) result() (json.RawMessage, error) {
	if t.root == nil {
		return nil, errors.Join(errors.New("no root frame"), t.stopped)
	}
	encoded, err := json.Marshal(t.flat(nil, t.root, []int{}))
	return encoded, errors.Join(err, t.stopped)
}

// flat appends a frame and its descendants in pre-order.
func (t *exactTracer) flat(frames []*frame, f *frame, address []int) []*frame {
	f.BlockHash, f.BlockNumber = t.context.BlockHash, t.context.BlockNumber.Uint64()
	f.TransactionHash, f.TransactionPosition = t.context.TxHash, t.context.TxIndex
	f.TraceAddress, f.Subtraces = address, len(f.children)
	frames = append(frames, f)
	for i, child := range f.children {
		frames = t.flat(frames, child, append(slices.Clone(address), i))
	}
	return frames
}
