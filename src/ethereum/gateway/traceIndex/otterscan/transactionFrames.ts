import { RpcError } from '../../../jsonrpc/index.ts';
import { precompilesAt } from '../../../traces/convert/index.ts';
import type { Address, Hash } from '../../../traces/index.ts';
import type { CallContext, Handler } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { type Frame, outputOf, REVERTED, revertOutput } from '../traces/replayed.ts';
import { traceGet } from '../traces/traceGet.ts';
import { traceTransaction } from '../traces/traceTransaction.ts';
import { internalOperations, traceEntries } from './frameEntries.ts';

/** Frames of a transaction in pre-order: the traces of a transaction never include rewards. */
type Frames = readonly Frame[];

type ReadFrames = (hash: unknown, context: CallContext) => Promise<Frames>;

/** Returns a function that reads the frames of a transaction. Throws RpcError for an unknown transaction, like Erigon. */
function framesReader(services: IndexServices): ReadFrames {
  const read = traceTransaction(services);
  return async (hash, context) => {
    const traces = (await read([hash], context)) as Buffer; // the handler of trace_transaction returns a Buffer
    const frames = JSON.parse(traces.toString('latin1')) as Frames | null;
    if (frames !== null) return frames;
    throw notFound(hash);
  };
}

const notFound = (hash: unknown): RpcError =>
  new RpcError('transactionNotFound', `transaction ${hash} not found`);

/** Returns the handler of ots_traceTransaction. */
export function otsTraceTransaction(services: IndexServices): Handler {
  const read = framesReader(services);
  return async ([hash], context) => {
    const frames = await read(hash, context);
    const output = await rootOutput(services, frames);
    return json(traceEntries(frames, output, await precompilesOf(services, frames)));
  };
}

/** Returns the handler of ots_getInternalOperations. */
export function otsInternalOperations(services: IndexServices): Handler {
  const read = framesReader(services);
  return async ([hash], context) => json(internalOperations(await read(hash, context)));
}

/**
 * Returns the handler of ots_getTransactionError: the revert data; `0x` for other failures and for success. Reads only
 * the root frame, because a transaction can have more frames than a response may contain.
 */
export function otsTransactionError(services: IndexServices): Handler {
  const readFrame = traceGet(services);
  return async ([hash], context) => {
    const frame = (await readFrame([hash, []], context)) as Buffer; // the handler of trace_get returns a Buffer
    const root = JSON.parse(frame.toString('latin1')) as Frame | null;
    if (root === null) throw notFound(hash);
    return json(root.error === REVERTED ? await rootOutput(services, [root]) : '0x');
  };
}

/** Returns the output of the root frame. A node is asked for revert data that the index lacks. */
async function rootOutput({ finder }: IndexServices, [root]: Frames): Promise<string> {
  if (root === undefined) return '0x';
  // A frame always belongs to a transaction.
  return outputOf(root) ?? (await revertOutput(root.transactionHash as Hash, finder));
}

async function precompilesOf({ store }: IndexServices, [root]: Frames): Promise<ReadonlySet<Address>> {
  const [chain, block] = [await store.chain(), root && (await store.block(root.blockNumber))];
  return chain === undefined || block === undefined ? new Set() : precompilesAt(chain.chainId, block);
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
