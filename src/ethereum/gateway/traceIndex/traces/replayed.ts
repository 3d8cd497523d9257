import { setImmediate as afterPolling } from 'node:timers/promises';
import { NoNodeError, type Part, RpcError } from '../../../jsonrpc/index.ts';
import { NodeError, type TransactionFinder } from '../../../nodes/index.ts';
import type { Data, Hash, NextTurn, Trace } from '../../../traces/index.ts';
import { joined } from '../../http/respond.ts';
import { traceSlices } from './traceSlices.ts';

/** A frame of a call tree: every trace except a reward. */
export type Frame = Exclude<Trace, { type: 'reward' }>;

/** Members of a stored trace that name its block. Strings of a trace contain no unescaped quotes, so only keys match. */
const BLOCK_MEMBERS = /"blockHash":"0x[0-9a-f]{64}","blockNumber":\d+,/;
const TRANSACTION_MEMBERS = /"transactionHash":"(0x[0-9a-f]{64})","transactionPosition":\d+,/;
/** End of each trace: `type` is the last key. */
const BETWEEN_TRACES = /(?<="type":"(?:call|create|suicide|reward)"\}),/;

/** Number of frames that are written without a turn of other clients. They take about a millisecond. */
const FRAMES_PER_SLICE = 500;

/** Frames of one transaction in pre-order, as JSON without the members that name the block and the transaction. */
export interface TransactionFrames {
  readonly hash: Hash;
  readonly frames: string[];
}

/** Splits the JSON array of a block's or transaction's traces by transaction, in slices. Omits rewards. */
export async function framesByTransaction(traces: Buffer, nextTurn?: NextTurn): Promise<TransactionFrames[]> {
  const all: TransactionFrames[] = [];
  for await (const slice of traceSlices(traces, nextTurn))
    for (const frame of slice.split(BETWEEN_TRACES)) {
      const hash = TRANSACTION_MEMBERS.exec(frame)?.[1] as Hash | undefined; // matches the pattern of a hash
      if (hash === undefined) continue;
      if (all.at(-1)?.hash !== hash) all.push({ hash, frames: [] });
      all.at(-1)?.frames.push(frame.replace(BLOCK_MEMBERS, '').replace(TRANSACTION_MEMBERS, ''));
    }
  return all;
}

interface ReplayOptions {
  readonly finder: TransactionFinder;
  readonly nextTurn?: NextTurn | undefined;
  /** Whether the result has the hash of the transaction. */
  readonly withHash: boolean;
}

/** Returns the result of `trace_replayTransaction` as JSON. Writes the frames in slices. */
export async function replayOf(
  { hash, frames }: TransactionFrames,
  { finder, nextTurn = afterPolling, withHash }: ReplayOptions,
): Promise<Buffer> {
  const root = JSON.parse(frames[0] ?? '') as Frame; // the first frame is the root
  const output = outputOf(root) ?? (await revertOutput(hash, finder));
  const trace: Part[] = [];
  for (let first = 0; first < frames.length; first += FRAMES_PER_SLICE) {
    if (first > 0) await nextTurn();
    const slice = frames.slice(first, first + FRAMES_PER_SLICE).join(',');
    trace.push(',', Buffer.from(slice, 'latin1'));
  }
  const last = withHash ? `"transactionHash":"${hash}","vmTrace":null` : '"vmTrace":null';
  return joined([`{"output":"${output}","stateDiff":null,"trace":[`, ...trace.slice(1), `],${last}}`]);
}

/**
 * Returns the output of a frame, the code of a creation, or the revert data. `0x` for other failures; undefined if the
 * index lacks the revert data.
 */
export function outputOf({ result, error }: Frame): string | undefined {
  if (result !== null) return 'code' in result ? result.code : result.output;
  return error === REVERTED ? undefined : '0x';
}

export const REVERTED = 'Reverted';

/** Returns the output of a reverted transaction. Throws RpcError if no node returns it. */
export async function revertOutput(hash: Hash, finder: TransactionFinder): Promise<Data> {
  try {
    return await finder.revertOutput(hash);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    throw new NoNodeError(
      `the index lacks the revert data of transaction ${hash}, and no node returned it; try again`,
    );
  }
}

/** Rejects trace types other than `trace`. Libraries recognise the text: ethers maps it to `UNSUPPORTED_OPERATION`. */
export function checkTraceTypes(method: string, types: readonly string[]): void {
  if (types.length === 1 && types[0] === 'trace') return;
  throw new RpcError(
    'methodNotFound',
    `the method ${method} does not exist for the trace types ${JSON.stringify(types)}; use ["trace"]`,
  );
}
