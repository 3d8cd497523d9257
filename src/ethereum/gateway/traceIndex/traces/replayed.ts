import { NoNodeError, RpcError } from '../../../jsonrpc/index.ts';
import { NodeError, type TransactionFinder } from '../../../nodes/index.ts';
import type { Data, Hash, Trace } from '../../../traces/index.ts';

/** A frame of a call tree: every trace except a reward. */
export type Frame = Exclude<Trace, { type: 'reward' }>;

/** Members of a stored trace that name its block. Strings of a trace contain no unescaped quotes, so only keys match. */
const BLOCK_MEMBERS = /"blockHash":"0x[0-9a-f]{64}","blockNumber":\d+,/g;
const TRANSACTION_MEMBERS = /"transactionHash":"0x[0-9a-f]{64}","transactionPosition":\d+,/g;
const TRANSACTION_HASH = /"transactionHash":"(0x[0-9a-f]{64})","transactionPosition"/;
/** End of each trace: `type` is the last key. */
const BETWEEN_TRACES = /(?<="type":"(?:call|create|suicide|reward)"\}),/;

/** Frames of one transaction, each as the JSON of a stored trace, in pre-order. */
interface TransactionFrames {
  readonly hash: Hash;
  readonly frames: string[];
}

/** Splits the JSON array of a block's or transaction's traces by transaction. Leaves rewards out. */
export function framesByTransaction(traces: Buffer): TransactionFrames[] {
  const text = traces.toString('latin1').slice(1, -1);
  const all: TransactionFrames[] = [];
  if (text === '') return all;
  for (const frame of text.split(BETWEEN_TRACES)) {
    const hash = TRANSACTION_HASH.exec(frame)?.[1] as Hash | undefined; // matches the pattern of a hash
    if (hash === undefined) continue;
    const last = all.at(-1);
    if (last?.hash === hash) last.frames.push(frame);
    else all.push({ hash, frames: [frame] });
  }
  return all;
}

/** Returns the result of `trace_replayTransaction` as JSON. `withHash` adds the transaction's hash to it. */
export async function replayOf(
  { hash, frames }: TransactionFrames,
  finder: TransactionFinder,
  withHash: boolean,
): Promise<string> {
  const root = JSON.parse(frames[0] ?? '') as Frame; // the first frame is the root
  const output = outputOf(root) ?? (await revertOutput(hash, finder));
  const trace = frames.join(',').replace(BLOCK_MEMBERS, '').replace(TRANSACTION_MEMBERS, '');
  const last = withHash ? `"transactionHash":"${hash}","vmTrace":null` : '"vmTrace":null';
  return `{"output":"${output}","stateDiff":null,"trace":[${trace}],${last}}`;
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
