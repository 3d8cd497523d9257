/**
 * Entry point of `floodgate/traces`. Converts the responses of an Ethereum node for one block to complete, verified
 * traces in the format of Parity's `trace_block` (docs/reference/trace-filter.md). It sends no requests.
 */
import { chainRulesOf, convertBlock, parseHeader } from '../../ethereum/traces/convert/index.ts';
import type { Trace } from '../../ethereum/traces/index.ts';

export { BlockMismatchError, TraceFormatError } from '../../ethereum/traces/convert/index.ts';
export type {
  Address,
  CallTrace,
  CreateTrace,
  Data,
  Hash,
  Quantity,
  RewardTrace,
  SuicideTrace,
  Trace,
} from '../../ethereum/traces/index.ts';

/**
 * How the traces were requested: with `trace_block`, or with `debug_traceBlockByHash` (or `…ByNumber`) and the
 * options `{"tracer":"callTracer"}` or `{"tracer":"flatCallTracer","tracerConfig":{"includePrecompiles":true}}`.
 */
export type TraceMethod = 'trace_block' | 'callTracer' | 'flatCallTracer';

/** A node's responses for one block. Each value is the parsed `result` of a response. */
export interface NodeAnswers {
  /**
   * Result of `eth_getBlockByHash` or `eth_getBlockByNumber`. The two tracers, and `trace_block` on Polygon, require full
   * transaction objects.
   */
  readonly block: unknown;
  /** Result of the request that `method` names. Do not use it afterwards: the returned traces share parts of it. */
  readonly traces: unknown;
  /**
   * Results of `eth_getUncleByBlockHashAndIndex` in the order of the index. Required for mainnet and Sepolia blocks
   * that have uncles, because the rewards depend on them.
   */
  readonly uncles?: readonly unknown[];
}

export interface BlockTracesOptions {
  readonly method: TraceMethod;
  /** Chain id, which selects the rules for gas and rewards. For unknown chains, Ethereum's newest gas rules apply. */
  readonly chainId: number;
}

/**
 * Returns the traces of a block in canonical order: the frames of its transactions, then the rewards of a mined
 * block. docs/reference/nodes.md lists the values that are exact for each method. Since Amsterdam, gas of root frames
 * from the two tracers is too high by what a transaction paid for state before its root frame.
 *
 * @throws TraceFormatError if a response does not have the requested format (the message names the member);
 * BlockMismatchError if the traces are not exactly those of the block.
 */
export function blockTraces(answers: NodeAnswers, { method, chainId }: BlockTracesOptions): Trace[] {
  const header = parseHeader(answers.block);
  const uncles = (answers.uncles ?? []).map(parseHeader);
  return convertBlock({ ...answers, header, uncles }, method, chainRulesOf(chainId)).traces;
}
