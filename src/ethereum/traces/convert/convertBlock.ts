import type { Hash, Trace } from '../index.ts';
import { blockRulesAt } from './chains/blockRules.ts';
import type { ChainRules } from './chains/chainRules.ts';
import { blockRewards } from './check/blockRewards.ts';
import { checkBlock, type MayLackFrames } from './check/checkBlock.ts';
import { checkedRewards } from './check/checkedRewards.ts';
import type { TraceMethod } from './chooseTraceMethod.ts';
import { isStopRoot } from './geth/callFrameReader.ts';
import { fromCallTracer } from './geth/fromCallTracer.ts';
import { fromFlatCallTracer } from './geth/fromFlatCallTracer.ts';
import type { FullHeader } from './parseHeader.ts';
import { parseTraceBlock } from './parseTraceBlock.ts';
import { type BlockTransaction, parseTransactions } from './parseTransactions.ts';

/** A node's responses for one block, as parsed JSON. */
export interface BlockAnswers {
  readonly header: FullHeader;
  /** The block. The two tracers, and chains with transactions of the network, need whole transactions in it. */
  readonly block: unknown;
  /** Result of the trace method. For `trace_transaction`: the results of all transactions, one after the other. */
  readonly traces: unknown;
  /** Headers of the block's uncles, in order. Needed for the rewards of a mined block. */
  readonly uncles: readonly FullHeader[];
  /**
   * Result of the step logger, limited to one step (`FIRST_STEP`), for the two tracers. Without it, `gas` of root frames
   * is not exact since Amsterdam.
   */
  readonly firstSteps?: unknown;
  /** Results of the step logger for the calls of `hiddenCharges`. Without them, the `gas` of these is not exact. */
  readonly chargeTraces?: ReadonlyMap<Hash, readonly unknown[]> | undefined;
}

export interface ConvertedBlock {
  readonly traces: Trace[];
  /** Whether a transaction of the network has no frames, which another node may list. */
  readonly lacksFrames: boolean;
}

/**
 * Converts the responses of a node to the traces of a block in canonical order: the frames of its transactions, then the
 * rewards. Checks that they are complete.
 *
 * @throws TraceFormatError if a response is malformed, BlockMismatchError if the traces are not those of the block.
 */
export function convertBlock(
  answers: BlockAnswers,
  method: TraceMethod | 'trace_transaction',
  rules: ChainRules,
): ConvertedBlock {
  const { header, uncles } = answers;
  const isTracer = method === 'callTracer' || method === 'flatCallTracer';
  const hasSystemTransactions = rules.systemTransaction !== undefined;
  const transactions = isTracer || hasSystemTransactions ? parseTransactions(answers.block) : [];
  const frames = framesOf(answers, { method, transactions, rules });
  const traces =
    method === 'trace_block'
      ? checkedRewards({ header, uncles }, frames, rules)
      : [...frames, ...blockRewards(header, uncles, rules)];
  const systemPositions = positionsOf(transactions, (one) => rules.systemTransaction?.matches(one) === true);
  checkBlock(header, traces, new Set([...systemPositions, ...stopRoots(answers.traces, rules)]));
  const framed = new Set(frames.map(({ transactionPosition }) => transactionPosition));
  return { traces, lacksFrames: [...systemPositions].some((position) => !framed.has(position)) };
}

interface Conversion {
  readonly method: TraceMethod | 'trace_transaction';
  readonly transactions: readonly BlockTransaction[];
  readonly rules: ChainRules;
}

function framesOf(
  { header, traces, firstSteps, chargeTraces }: BlockAnswers,
  { method, transactions, rules }: Conversion,
): Trace[] {
  const block = { header, transactions, firstSteps, chargeTraces };
  if (method === 'callTracer') return fromCallTracer(block, traces, rules);
  if (method === 'flatCallTracer') return fromFlatCallTracer(block, traces, rules);
  return parseTraceBlock(traces, blockRulesAt(rules, header));
}

/** Returns the positions of transactions whose result of `callTracer` is a root of type STOP. */
function stopRoots(answer: unknown, { hasStopRoots = false }: ChainRules): MayLackFrames {
  if (!hasStopRoots || !Array.isArray(answer)) return new Set();
  return positionsOf(answer, (element) => isStopRoot((element as { result?: unknown } | null)?.result)); // any JSON value
}

function positionsOf<T>(list: readonly T[], matches: (item: T) => boolean): Set<number> {
  return new Set(list.flatMap((item, position) => (matches(item) ? [position] : [])));
}
