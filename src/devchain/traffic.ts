import type { Data, Hash, Quantity } from '../ethereum/traces/index.ts';
import { DELEGATOR, DIRECTOR, SENDERS } from './cast.ts';
import { improvise } from './improvise.ts';
import { connect, type Node } from './node.ts';
import { createRandom } from './random.ts';
import { SCRIPT } from './script/scenes.ts';
import { type Nonces, sign, type Transaction } from './transaction.ts';

export interface TrafficOptions {
  /** The node, whose mining is left to the traffic (`startAnvil` without a block time). */
  readonly url: string;
  /** The same seed on the same chain gives the same transactions. */
  readonly seed: number;
  /**
   * Seconds from a block's timestamp to the next one's. Given, and with a genesis whose time is fixed, the same
   * seed gives the same block hashes. Left out: blocks carry the time at which they are mined.
   */
  readonly blockSeconds?: number;
}

/** A block that the traffic made. */
export interface TrafficBlock {
  readonly number: number;
  readonly hash: Hash;
  /** What was sent, signed, in the block's order. Another node that is sent the same does the same. */
  readonly transactions: readonly Data[];
  /** What each of them is meant to show. */
  readonly about: readonly string[];
}

export interface Traffic {
  /** Sends the next few transactions and mines a block with them. */
  step(): Promise<TrafficBlock>;
  run(options: { readonly steps: number }): Promise<TrafficBlock[]>;
}

/** The blocks of a new chain after which every shape of trace has been there. */
export const SCRIPT_BLOCKS = SCRIPT.length;

interface Head {
  readonly number: Quantity;
  readonly hash: Hash;
  readonly timestamp: Quantity;
}

const ACCOUNTS_IN_USE = [DIRECTOR, DELEGATOR, ...SENDERS];

/**
 * Traffic whose traces have every shape: first the script, then random trees of calls. It keeps nothing in memory:
 * what comes next follows from the seed and the chain, so it goes on after a restart or a reorganisation.
 */
export async function createTraffic({ url, seed, blockSeconds }: TrafficOptions): Promise<Traffic> {
  const node = connect(url);
  const chainId = Number(await node.call<Quantity>('eth_chainId'));

  const step = async (): Promise<TrafficBlock> => {
    const { head, nonces } = await look(node);
    const number = Number(head.number) + 1;
    const next = upNext(nonces.get(DIRECTOR.address) ?? 0) ?? improvise(createRandom(mix(seed, number)));
    const transactions = next.map((transaction) => sign(transaction, chainId, nonces));
    await node.batch(transactions.map((transaction) => ['eth_sendRawTransaction', transaction]));
    if (blockSeconds !== undefined)
      await node.call('evm_setNextBlockTimestamp', Number(head.timestamp) + blockSeconds);
    await node.call('evm_mine');
    const block = await node.call<Head>('eth_getBlockByNumber', 'latest', false);
    return {
      number: Number(block.number),
      hash: block.hash,
      transactions,
      about: next.map(({ about }) => about),
    };
  };

  const run = async ({ steps }: { readonly steps: number }): Promise<TrafficBlock[]> => {
    const blocks: TrafficBlock[] = [];
    for (let done = 0; done < steps; done++) blocks.push(await step());
    return blocks;
  };
  return { step, run };
}

/** A seed of its own for each block, so that no two seeds give the same blocks, not even at another height. */
function mix(seed: number, blockNumber: number): number {
  return Math.imul(seed + 1, GOLDEN) ^ Math.imul(blockNumber, GOLDEN_OF_BLOCKS);
}

/** Odd numbers with well-spread bits, as integer hashes use them (Knuth's golden ratio, and MurmurHash3's). */
const GOLDEN = 0x9e3779b1;
const GOLDEN_OF_BLOCKS = 0x85ebca6b;

async function look(node: Node): Promise<{ head: Head; nonces: Nonces }> {
  const head = await node.call<Head>('eth_getBlockByNumber', 'latest', false);
  const counts = await node.batch<Quantity>(
    ACCOUNTS_IN_USE.map(({ address }) => ['eth_getTransactionCount', address, 'pending']),
  );
  const nonces = ACCOUNTS_IN_USE.map(({ address }, index) => [address, Number(counts[index])] as const);
  return { head, nonces: new Map(nonces) };
}

/** What is left of the script's current block, after the director has sent `sent` transactions. */
function upNext(sent: number): readonly Transaction[] | undefined {
  let start = 0;
  for (const block of SCRIPT) {
    if (sent < start + block.length) return block.slice(sent - start);
    start += block.length;
  }
  return undefined;
}
