import type { Failure, Outcome } from '../../../api/failure.ts';
import { rpc, rpcBatch } from '../../../api/rpc.ts';
import { type Frame, treeOf } from '../frames/callTree.ts';
import { valueMoved } from '../frames/describe.ts';
import type { BlockHeader, Trace } from '../types.ts';

const SHOWN_BLOCKS = 10;
const SHOWN_TRANSFERS = 20;

export interface Latest {
  /** Newest first. */
  readonly headers: readonly BlockHeader[];
  /** Traces by block hash. Older blocks are read only until there are enough transfers. */
  readonly traces: ReadonlyMap<string, readonly Trace[]>;
  readonly transfers: readonly Frame[];
  readonly failure: Failure | undefined;
}

/** Reads the latest blocks. Traces of `before` are not read again, unless their block was replaced. */
export async function readLatest(network: string, before: Latest | undefined): Promise<Outcome<Latest>> {
  const method = 'eth_getBlockByNumber';
  const head = await rpc<BlockHeader>({ network, method, params: ['latest', false] });
  if ('failure' in head) return head;
  const number = Number(head.value.number);
  const count = Math.min(number, SHOWN_BLOCKS - 1);
  const calls = Array.from({ length: count }, (_, i) => ({
    method,
    params: [`0x${(number - 1 - i).toString(16)}`, false],
  }));
  const older = count === 0 ? [] : await rpcBatch<BlockHeader | null>(network, calls);
  const headers = [head.value, ...older.flatMap((one) => ('value' in one && one.value) || [])];
  const traces = new Map<string, readonly Trace[]>();
  const transfers: Frame[] = [];
  let failure: Failure | undefined;
  for (const header of headers) {
    if (transfers.length >= SHOWN_TRANSFERS) break;
    const known = before?.traces.get(header.hash);
    const params = [header.number];
    const answer = known
      ? { value: known }
      : await rpc<readonly Trace[]>({ network, method: 'trace_block', params });
    if ('failure' in answer) failure = answer.failure;
    else if (answer.value.every(({ blockHash }) => blockHash === header.hash)) {
      traces.set(header.hash, answer.value);
      transfers.push(...transfersIn(answer.value));
    }
  }
  return { value: { headers, traces, transfers: transfers.slice(0, SHOWN_TRANSFERS), failure } };
}

function transfersIn(traces: readonly Trace[]): Frame[] {
  const found: Frame[] = [];
  const visit = (frame: Frame): void => {
    if (frame.depth > 0 && valueMoved(frame.trace, frame.isUndone) > 0n) found.push(frame);
    for (const child of frame.children) visit(child);
  };
  for (const [hash, all] of Map.groupBy(traces, ({ transactionHash }) => transactionHash)) {
    const root = hash === null ? undefined : treeOf(all);
    if (root !== undefined) visit(root);
  }
  return found;
}

/** Returns the address with most calls, and a trace of the transaction with most calls. */
export function examplesOf({ traces }: Latest): { readonly address?: string; readonly trace?: Trace } {
  const all = [...traces.values()].flat();
  const most = (keyOf: (trace: Trace) => string | null) =>
    [...Map.groupBy(all, keyOf)]
      .filter(([key]) => key !== null)
      .sort(([, a], [, b]) => b.length - a.length)[0]?.[0];
  const address = most((trace) => (trace.type === 'call' ? trace.action.to : null));
  const transaction = most(({ transactionHash }) => transactionHash);
  const trace = all.find(({ transactionHash }) => transactionHash === transaction);
  return { ...(address && { address }), ...(trace && { trace }) };
}
