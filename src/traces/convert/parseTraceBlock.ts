import type { Address, Trace } from '../trace.ts';
import { isPrecheckFailure } from './errorName.ts';
import { FrameReader, MAX_FRAMES } from './frameReader.ts';
import { PRECOMPILES } from './precompiles.ts';
import { removeFrames } from './removeFrames.ts';
import { TraceFormatError } from './traceFormatError.ts';

/**
 * The canonical traces of a block from a node's answer to `trace_block`: Erigon, Nethermind, Besu, Reth, anvil,
 * OpenEthereum and Parity, whose differences are in facts/trace-filter.md, table A. Takes the answer over: its arrays
 * become part of the traces.
 *
 * @param answer the `result` of the response, parsed.
 * @param precompiles contracts whose nested calls without value are no frames; every one Ethereum ever had by default.
 * @throws TraceFormatError naming the trace and the member where the answer is not a list of traces.
 */
export function parseTraceBlock(answer: unknown, precompiles: ReadonlySet<Address> = PRECOMPILES): Trace[] {
  const place = { what: 'trace_block', index: -1 };
  if (!Array.isArray(answer) || answer.length > MAX_FRAMES)
    throw new TraceFormatError(place, '', `an array of at most ${MAX_FRAMES} traces`, answer);
  const reader = new FrameReader();
  const traces: Trace[] = [];
  for (let i = 0; i < answer.length; i++) {
    const trace = reader.read(answer[i], i);
    if (trace) traces.push(trace);
  }
  return removeFrames(
    traces,
    (trace) => isPrecheckFailure(errorOf(trace)) || ranPrecompile(trace, precompiles),
  );
}

/**
 * Whether the frame is a call without value that a precompiled contract carried out. Before the fork that brought the
 * contract the same call finds an empty account: it costs nothing, gives nothing, and is a frame. That tells the two
 * apart without knowing the chain's forks (all but the modular exponentiation of nothing, free until Berlin).
 */
function ranPrecompile(trace: Trace, precompiles: ReadonlySet<Address>): boolean {
  if (trace.type !== 'call' || trace.action.value !== '0x0' || !precompiles.has(trace.action.to))
    return false;
  const { result } = trace;
  return trace.error !== undefined || result === null || result.gasUsed !== '0x0' || result.output !== '0x';
}

const errorOf = (trace: Trace) => (trace.type === 'reward' ? undefined : trace.error);
