import { isPooled, isStream, type Result } from '../../../jsonrpc/index.ts';
import { type HeaderMembers, headerOf } from '../../../nodes/index.ts';
import type { Hash } from '../../../traces/index.ts';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import type { CallContext, Handler } from '../../method.ts';
import type { RelayedRow } from '../../methods/row.ts';
import { RELAYED_ROWS } from '../../methods/rows/relayedRows.ts';
import type { Network } from '../../relay/network.ts';
import { relayed } from '../../relay/relayed.ts';
import type { LiveBlock } from './headFeed.ts';

/**
 * Memory quota without a limit, because these requests serve all subscribers instead of one client. Each response is
 * still limited by `gateway.maxAnswerBytes`.
 */
const ROOM = { charge: () => true, credit: () => undefined, freeConnection: () => undefined };

const FOR_ALL: CallContext = { mayStream: false, room: ROOM, limits: DEFAULT_LIMITS };

export type NodeRequest = (params: readonly unknown[], context?: CallContext) => Promise<unknown>;

/** Returns the handler of a relayed method, for canonical parameters. The handler checks limits and results. */
export function relayedHandler(network: Network, method: string): Handler {
  const row = RELAYED_ROWS.find(({ name }) => name === method) as RelayedRow; // callers pass only names of relayed methods
  const handle = relayed(row, network);
  return (params, context) => {
    row.checkLimits?.(params, context.limits);
    return handle(params, context);
  };
}

/** Returns a function that calls a relayed method. Calls are checked and coalesced like those of clients. */
export function nodeRequester(network: Network, method: string): NodeRequest {
  const handle = relayedHandler(network, method);
  return async (params, context = FOR_ALL) => {
    const result: Result = await handle(params, { ...context, mayStream: false });
    if (isPooled(result) || isStream(result)) throw new Error(`${method} returned a stream`);
    return JSON.parse(Buffer.from(result.buffer, result.byteOffset, result.length).toString());
  };
}

/**
 * Returns a function that returns a block by its hash. It fetches a block only if it is not the head, whose header the
 * last poll has returned. The function rejects if no node has the block.
 */
export function liveBlocks(network: Network): (hash: Hash) => Promise<LiveBlock> {
  const ask = nodeRequester(network, 'eth_getBlockByHash');
  return async (hash) => {
    const { latest } = network.pool.heads;
    if (latest?.hash === hash && latest.header !== undefined)
      return liveBlock(hash, JSON.parse(latest.header));
    const block = await ask([hash, false]);
    if (block === null) throw new Error(`no node has block ${hash}`);
    return liveBlock(hash, headerOf(block as HeaderMembers)); // the result check has verified that it is an object
  };
}

function liveBlock(hash: Hash, header: HeaderMembers): LiveBlock {
  const { number, parentHash, logsBloom } = header;
  return {
    number: Number(number),
    hash,
    parentHash: String(parentHash) as Hash, // verified by the check of the block
    header: JSON.stringify(header),
    logsBloom: bloomOf(logsBloom),
  };
}

function bloomOf(logsBloom: unknown): Buffer | undefined {
  if (typeof logsBloom !== 'string') return undefined;
  const bits = Buffer.from(logsBloom.slice(2), 'hex');
  return bits.some((byte) => byte !== 0) ? bits : undefined;
}
