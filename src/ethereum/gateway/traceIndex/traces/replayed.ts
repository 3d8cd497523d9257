import { NoNodeError, RpcError } from '../../../jsonrpc/index.ts';
import { NodeError, type TransactionFinder } from '../../../nodes/index.ts';
import type { Data, Hash } from '../../../traces/index.ts';

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
  const output = outputOf(frames[0] ?? '') ?? (await revertOutput(hash, finder));
  const trace = frames.join(',').replace(BLOCK_MEMBERS, '').replace(TRANSACTION_MEMBERS, '');
  const last = withHash ? `"transactionHash":"${hash}","vmTrace":null` : '"vmTrace":null';
  return `{"output":"${output}","stateDiff":null,"trace":[${trace}],${last}}`;
}

/** Returns the output of a root frame, or the code of a creation; undefined if a reverted frame lacks it. */
function outputOf(root: string): Data | undefined {
  const { result, error } = JSON.parse(root) as {
    readonly result: { readonly output?: Data; readonly code?: Data } | null;
    readonly error?: string;
  };
  if (result !== null) return result.output ?? result.code ?? ('0x' as Data);
  return error === 'Reverted' ? undefined : ('0x' as Data);
}

async function revertOutput(hash: Hash, finder: TransactionFinder): Promise<Data> {
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
