import { type Part, RpcError } from '../../../jsonrpc/index.ts';
import { precompilesAt } from '../../../traces/convert/index.ts';
import type { Address, Hash, MaybePromise } from '../../../traces/index.ts';
import { joined } from '../../http/respond.ts';
import type { Handler } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { type Frame, outputOf, REVERTED, revertOutput } from '../traces/replayed.ts';
import { traceGet } from '../traces/traceGet.ts';
import { traceSlices } from '../traces/traceSlices.ts';
import { traceTransaction } from '../traces/traceTransaction.ts';
import { NULL } from './accountCode.ts';
import { internalOperations, traceEntries } from './frameEntries.ts';

/** Converts a slice of the frames of a transaction, in pre-order. */
type ToEntries = (frames: readonly Frame[]) => readonly object[];

/**
 * Returns a handler that lists the frames of a transaction, which it converts in slices. `conversionFor` receives the
 * root frame. Throws RpcError for an unknown transaction, like Erigon.
 */
function listFrames(
  services: IndexServices,
  conversionFor: (root: Frame) => MaybePromise<ToEntries>,
): Handler {
  const read = traceTransaction(services);
  return async ([hash], context) => {
    const traces = (await read([hash], context)) as Buffer; // the handler of trace_transaction returns a Buffer
    if (traces.equals(NULL)) throw notFound(hash);
    const parts: Part[] = [];
    let toEntries: ToEntries | undefined;
    for await (const slice of traceSlices(traces, context.nextTurn)) {
      const frames = JSON.parse(`[${slice}]`) as [Frame, ...Frame[]]; // the traces of a transaction have no rewards
      toEntries ??= await conversionFor(frames[0]);
      const entries = Buffer.from(JSON.stringify(toEntries(frames))).subarray(1, -1);
      if (entries.length > 0) parts.push(',', entries);
    }
    return joined(['[', ...parts.slice(1), ']']);
  };
}

const notFound = (hash: unknown): RpcError =>
  new RpcError('transactionNotFound', `transaction ${hash} not found`);

/** Returns the handler of ots_traceTransaction. */
export const otsTraceTransaction = (services: IndexServices): Handler =>
  listFrames(services, async (root) => {
    const output = await rootOutput(services, root);
    return traceEntries(output, await precompilesOf(services, root));
  });

/** Returns the handler of ots_getInternalOperations. */
export const otsInternalOperations = (services: IndexServices): Handler =>
  listFrames(services, () => internalOperations);

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
    return json(root.error === REVERTED ? await rootOutput(services, root) : '0x');
  };
}

/** Returns the output of the root frame. A node is asked for revert data that the index lacks. */
async function rootOutput({ finder }: IndexServices, root: Frame): Promise<string> {
  // A frame always belongs to a transaction.
  return outputOf(root) ?? (await revertOutput(root.transactionHash as Hash, finder));
}

async function precompilesOf({ store }: IndexServices, root: Frame): Promise<ReadonlySet<Address>> {
  const [chain, block] = [await store.chain(), await store.block(root.blockNumber)];
  return chain === undefined || block === undefined ? new Set() : precompilesAt(chain.chainId, block);
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
