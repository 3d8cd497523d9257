import { TimeSlice } from '../../../jsonrpc/index.ts';
import { JsonReader, NodeError, ResponseMemory } from '../../../nodes/index.ts';
import {
  BlockMismatchError,
  chainRulesOf,
  type FullHeader,
  fromCallTracer,
  fromFlatCallTracer,
  TraceFormatError,
} from '../../../traces/convert/index.ts';
import {
  type Address,
  AnswerTooLargeError,
  type Hash,
  type StoredBlock,
  type Trace,
  type TraceReader,
} from '../../../traces/index.ts';
import { framesByTransaction, type TransactionFrames } from '../../traceIndex/traces/replayed.ts';
import { haveSameFrames } from './sameFrames.ts';

/** Time for which a comparison uses the event loop. After that, other work runs. */
const SLICE_MS = 2;
/** Number of bytes of a result that are parsed without a look at the time. */
const PIECE_BYTES = 16 * 1024;
/** Maximum memory of a parsed result and of indexed traces; larger ones are not compared. */
const MAX_COMPARED_BYTES = 128 * 1024 * 1024;
const NOBODY = `0x${'0'.repeat(40)}` as Address; // 20 bytes

/**
 * - `equal`: The index has the same frames.
 * - `differs`: The index has other frames, or the result is not one of the tracer.
 * - `unknown`: The index lacks the block, or has another block with its number.
 * - `failed`: The node could not trace a transaction, or left out frames. The result is not cached.
 */
export type Comparison = 'equal' | 'differs' | 'unknown' | 'failed';

export interface ComparedResult {
  readonly blockNumber: number;
  /** Hash of the block, if the request names it. */
  readonly blockHash?: string | undefined;
  /** Default: the result has all transactions of the block. */
  readonly transactionHash?: string | undefined;
  readonly tracer: 'callTracer' | 'flatCallTracer';
  readonly bytes: Buffer;
  /** The parsed result; undefined if it was not parsed yet. */
  readonly value: unknown;
}

type IndexedTraces = Pick<TraceReader, 'block' | 'blockTraces' | 'transactionTraces'>;

/** Compares a node's result of a tracer with the frames of the index, in time slices. */
export async function compareWithIndex(
  store: IndexedTraces,
  chainId: string | undefined,
  compared: ComparedResult,
): Promise<Comparison> {
  const indexed = await indexedFrames(store, compared);
  if (indexed === undefined) return 'unknown';
  const slice = new TimeSlice(SLICE_MS);
  try {
    const value = compared.value ?? (await parsed(compared.bytes, slice));
    const results = compared.transactionHash === undefined ? value : [{ result: value }];
    if (!Array.isArray(results)) return 'differs';
    if (results.some(hasError)) return 'failed';
    if (results.length !== indexed.transactions.length) return 'differs';
    const rules = chainRulesOf(Number(chainId));
    const convert = compared.tracer === 'callTracer' ? fromCallTracer : fromFlatCallTracer;
    for (const [i, { hash, frames }] of indexed.transactions.entries()) {
      const traces = frames.map((frame): Trace => JSON.parse(frame));
      const [root] = traces;
      if (root === undefined) return 'unknown';
      const block = { header: headerOf(indexed.block, hash), transactions: [transactionOf(root, hash)] };
      if (!haveSameFrames(traces, convert(block, [results[i]], rules))) return 'differs';
      if (slice.isExpired) await slice.next();
    }
    return 'equal';
  } catch (error) {
    const isBad = [TraceFormatError, BlockMismatchError, SyntaxError].some((kind) => error instanceof kind);
    if (isBad) return 'differs';
    if (error instanceof NodeError) return 'unknown'; // the result needs too much memory
    throw error;
  }
}

/** Returns true if an element of the result of `debug_traceBlockByNumber` says that a transaction was not traced. */
export const hasError = (element: unknown): boolean =>
  typeof element === 'object' && element !== null && 'error' in element && Boolean(element.error);

interface IndexedBlock {
  readonly block: StoredBlock;
  readonly transactions: readonly TransactionFrames[];
}

async function indexedFrames(
  store: IndexedTraces,
  { blockNumber, blockHash, transactionHash }: ComparedResult,
): Promise<IndexedBlock | undefined> {
  try {
    const block = await store.block(blockNumber);
    if (block === undefined || (blockHash ?? block.hash) !== block.hash) return undefined;
    const traces =
      transactionHash === undefined
        ? await store.blockTraces(blockNumber, MAX_COMPARED_BYTES)
        : await store.transactionTraces(transactionHash as never, { maxBytes: MAX_COMPARED_BYTES }); // validated as a hash
    if (traces === undefined) return undefined;
    return { block, transactions: await framesByTransaction(traces) };
  } catch (error) {
    if (error instanceof AnswerTooLargeError) return undefined;
    throw error;
  }
}

async function parsed(bytes: Buffer, slice: TimeSlice): Promise<unknown> {
  const reader = new JsonReader(new ResponseMemory(MAX_COMPARED_BYTES, 'the result of a tracer'));
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    reader.write(bytes.subarray(at, at + PIECE_BYTES));
    if (slice.isExpired) await slice.next();
  }
  return reader.end();
}

/** Returns a header with the members on which the frames of a transaction depend. The gas of root frames needs more. */
function headerOf({ number, hash, parentHash, timestamp }: StoredBlock, transactionHash: Hash): FullHeader {
  const unused = { miner: NOBODY, difficulty: 0n, gasUsed: 0n, uncleHashes: [] };
  return { number, hash, parentHash, timestamp, transactionHashes: [transactionHash], ...unused };
}

/** Returns a transaction with the members of its root frame. */
function transactionOf(
  root: Trace,
  hash: Hash,
): Parameters<typeof fromCallTracer>[0]['transactions'][number] {
  if (root.type !== 'call' && root.type !== 'create')
    throw new TraceFormatError({ what: 'frame', index: 0 }, 'type', {
      expected: 'call or create',
      got: root.type,
    });
  const { from, value } = root.action;
  const called =
    root.type === 'call'
      ? { to: root.action.to, input: root.action.input }
      : { to: null, input: root.action.init };
  const unused = { gas: 0n, accessList: [], accessListKeys: 0, authorizations: [] };
  return { hash, from, value, ...called, ...unused };
}
