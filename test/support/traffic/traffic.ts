import { connect, type Node } from '../../../src/devchain/index.ts';
import type { Data, Hash, Quantity } from '../../../src/ethereum/traces/index.ts';
import { DELEGATOR, DIRECTOR, SENDERS } from './cast.ts';
import { randomTransactions } from './improvise.ts';
import { createRandom } from './random.ts';
import { SCRIPT } from './script/scenes.ts';
import { type Nonces, sign, type Transaction } from './transaction.ts';

export interface TrafficOptions {
  /** A node that mines only on request (`startAnvil` without a block time). */
  readonly url: string;
  /** Seed of the traffic. On the same chain, it determines the transactions. */
  readonly seed: number;
  /**
   * Seconds between the timestamps of two blocks. If it is set and the timestamp of the genesis is fixed, the same
   * seed creates the same block hashes. Default: each block has the timestamp of its mining.
   */
  readonly blockSeconds?: number;
}

/** A block of the traffic. */
export interface TrafficBlock {
  readonly number: number;
  readonly hash: Hash;
  /** The signed transactions, in the order of the block, so that a test can send them to another node. */
  readonly transactions: readonly Data[];
  /** The purpose of each transaction. */
  readonly about: readonly string[];
}

export interface Traffic {
  /** Sends the next few transactions and mines a block with them. */
  step(): Promise<TrafficBlock>;
  run(options: { readonly steps: number }): Promise<TrafficBlock[]>;
}

/** Number of scripted blocks. A chain with all of them has every shape of trace. */
export const SCRIPT_BLOCKS = SCRIPT.length;

interface Head {
  readonly number: Quantity;
  readonly hash: Hash;
  readonly timestamp: Quantity;
}

const ACCOUNTS_IN_USE = [DIRECTOR, DELEGATOR, ...SENDERS];

/**
 * Creates traffic whose traces have every shape: first the script, then random trees of calls. It has no state: the
 * seed and the chain decide the next block, so the traffic continues after a restart or a reorganisation.
 */
export async function createTraffic({ url, seed, blockSeconds }: TrafficOptions): Promise<Traffic> {
  const node = connect(url);
  const chainId = Number(await node.call<Quantity>('eth_chainId'));

  const step = async (): Promise<TrafficBlock> => {
    const { head, nonces } = await look(node);
    const number = Number(head.number) + 1;
    const next =
      upNext(nonces.get(DIRECTOR.address) ?? 0) ?? randomTransactions(createRandom(mix(seed, number)));
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

/**
 * Returns the seed of one block, so that different seeds never create the same block, not even at different heights.
 */
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

/** Returns the rest of the current scripted block, after the director has sent `sent` transactions. */
function upNext(sent: number): readonly Transaction[] | undefined {
  let start = 0;
  for (const block of SCRIPT) {
    if (sent < start + block.length) return block.slice(sent - start);
    start += block.length;
  }
  return undefined;
}
