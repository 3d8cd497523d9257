/**
 * `floodgate/traces`: what any Ethereum client says of a block's execution, as the traces that Parity's `trace_block` gives
 * in the form of docs/trace-filter.md, whole and checked. Pure: it asks no node.
 */
import {
  BlockMismatchError,
  blockRewards,
  checkBlock,
  forkScheduleOf,
  fromCallTracer,
  fromFlatCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
} from '../../ethereum/traces/convert/index.ts';
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
 * How the node was asked: `trace_block`, or `debug_traceBlockByHash` (or `…ByNumber`) with `{"tracer":"callTracer"}` or
 * `{"tracer":"flatCallTracer","tracerConfig":{"includePrecompiles":true}}`.
 */
export type TraceMethod = 'trace_block' | 'callTracer' | 'flatCallTracer';

/** What a node said of one block: the `result` of each response, parsed. */
export interface NodeAnswers {
  /** Of `eth_getBlockByHash` or `eth_getBlockByNumber`; with whole transactions for the two tracers. */
  readonly block: unknown;
  /** Of `method`. It is taken over: parts of it become parts of the traces. */
  readonly traces: unknown;
  /** For the two tracers, where the block was mined: of `eth_getUncleByBlockHashAndIndex`, for each uncle in its order. */
  readonly uncles?: readonly unknown[];
}

export interface BlockTracesOptions {
  readonly method: TraceMethod;
  /** What `eth_chainId` says: gas and rewards go by the forks of the chain. One that is not known has Ethereum's newest rules. */
  readonly chainId: number;
}

/**
 * The traces of a block, in their order: the frames of its transactions, then the rewards of a mined block. Which values
 * are exact by which method: docs/nodes.md.
 *
 * @throws TraceFormatError where an answer is not what the node was asked for, naming the member; BlockMismatchError where the
 * traces are not those of the block, all of them.
 */
export function blockTraces(answers: NodeAnswers, { method, chainId }: BlockTracesOptions): Trace[] {
  const header = parseHeader(answers.block);
  const schedule = forkScheduleOf(chainId);
  let traces: Trace[];
  if (method === 'trace_block') {
    traces = parseTraceBlock(answers.traces);
    const isMined = schedule.minedRewards && header.difficulty > 0n && header.number > 0;
    if (isMined && !traces.some(({ type }) => type === 'reward'))
      throw new BlockMismatchError(header.number, 'the block was mined, and its reward is missing');
  } else {
    const convert = method === 'callTracer' ? fromCallTracer : fromFlatCallTracer;
    const uncles = (answers.uncles ?? []).map(parseHeader);
    traces = [
      ...convert({ header, transactions: parseTransactions(answers.block) }, answers.traces, schedule),
      ...blockRewards(header, uncles, schedule),
    ];
  }
  checkBlock(header, traces);
  return traces;
}
