import { isPooled, isStream, type Result } from '../../jsonrpc/index.ts';
import type { Hash } from '../../traces/index.ts';
import type { CallContext, Handler } from '../method.ts';
import { RELAYED_ROWS } from '../methods/relayedRows.ts';
import type { RelayedRow } from '../methods/row.ts';
import type { Network } from '../relay/network.ts';
import { relayed } from '../relay/relayed.ts';
import type { LiveBlock } from './headFeed.ts';

/** Of a block what is not of its header: clients that want it ask for it. */
const NOT_OF_HEADER = ['transactions', 'uncles', 'withdrawals', 'size', 'totalDifficulty'];

/** What is fetched for all has no client to count it for; `gateway.maxAnswerBytes` bounds it. */
const ROOM = { charge: () => true, credit: () => undefined, givePlace: () => undefined };

const FOR_ALL: CallContext = { mayStream: false, room: ROOM };

/** Asks the nodes of a network; the parameters are canonical. */
export type Asking = (params: readonly unknown[], context?: CallContext) => Promise<unknown>;

/** A method of the table as nodes answer it: canonical parameters are held to its limits, and its answer is checked. */
export function relayedHandler(network: Network, method: string): Handler {
  const row = RELAYED_ROWS.find(({ name }) => name === method) as RelayedRow; // the table has it
  const handle = relayed(row, network);
  return (params, context) => {
    row.checkLimits?.(params);
    return handle(params, context);
  };
}

/** Asks by a method that is relayed, as for a client: checked, and once for all who ask. */
export function asking(network: Network, method: string): Asking {
  const handle = relayedHandler(network, method);
  return async (params, context = FOR_ALL) => {
    const result: Result = await handle(params, { ...context, mayStream: false });
    if (isPooled(result) || isStream(result)) throw new Error(`${method} gave a stream`);
    return JSON.parse(Buffer.from(result.buffer, result.byteOffset, result.length).toString());
  };
}

/** Blocks of a network by their hashes. Rejects where no node has it. */
export function liveBlocks(network: Network): (hash: Hash) => Promise<LiveBlock> {
  const ask = asking(network, 'eth_getBlockByHash');
  return async (hash) => {
    const block = await ask([hash, false]);
    if (block === null) throw new Error(`no node has block ${hash}`);
    const members = block as Readonly<Record<string, unknown>>; // the row's check has seen to it
    const header = Object.fromEntries(
      Object.entries(members).filter(([name]) => !NOT_OF_HEADER.includes(name)),
    );
    const { number, parentHash } = members;
    return {
      number: Number(number),
      hash,
      parentHash: String(parentHash) as Hash, // as the row's check says
      header: JSON.stringify(header),
      logsBloom: bloomIn(members),
    };
  };
}

function bloomIn({ logsBloom }: Readonly<Record<string, unknown>>): Buffer | undefined {
  if (typeof logsBloom !== 'string') return undefined;
  const bits = Buffer.from(logsBloom.slice(2), 'hex');
  return bits.some((byte) => byte !== 0) ? bits : undefined;
}
