import { type Anvil, buildTransferChain, connect, type Node, startAnvil } from '../support/anvil.ts';
import type { ChainFacts } from './target.ts';

/** Logs of each mined block. */
export const LOGS_PER_BLOCK = 200;
export const EMITTER = `0x${'ee'.repeat(20)}`;
/** Emits `LOGS_PER_BLOCK` logs whose topics are the numbers from 200 to 1, in a loop. */
const EMITTER_CODE = '0x60c85b8060006000a1600190038060025700';
const EMITTER_GAS = '0x493e0';
const LARGE_BLOCKS = 4;
const TRANSACTIONS = { large: 1_000, small: 20 } as const;
const SEED = 1;
/** Number of addresses that clients send in filters. */
const ADDRESSES = 200;

export interface ChainSize {
  /** Blocks that are indexed only on request. */
  readonly oldBlocks: number;
  /** Blocks that are indexed from the start. */
  readonly recentBlocks: number;
}

/** Starts a node with a chain of transfers and a contract that emits logs. */
export async function startChain({ oldBlocks, recentBlocks }: ChainSize): Promise<[Anvil, ChainFacts]> {
  const anvil = await startAnvil();
  const part = (blocks: number, transactionsPerBlock: number) =>
    buildTransferChain({ url: anvil.url, blocks, transactionsPerBlock, seed: SEED });
  await part(oldBlocks, TRANSACTIONS.small);
  const large = await part(LARGE_BLOCKS, TRANSACTIONS.large);
  const { toBlock, recipients, senders } = await part(recentBlocks, TRANSACTIONS.small);
  await connect(anvil.url).call('anvil_setCode', EMITTER, EMITTER_CODE);
  return [
    anvil,
    {
      nodeUrl: anvil.url,
      firstIndexed: large.fromBlock,
      head: toBlock,
      largeBlock: large.fromBlock,
      recipients: recipients.slice(0, ADDRESSES),
      senders,
    },
  ];
}

export interface MinedBlock {
  readonly number: number;
  readonly hash: string;
  /** Time at which the node had the block. */
  readonly atMs: number;
}

/** Mines a block with `LOGS_PER_BLOCK` logs. */
export async function mineBlock(node: Node, sender: string): Promise<MinedBlock> {
  await node.call('eth_sendTransaction', { from: sender, to: EMITTER, gas: EMITTER_GAS });
  await node.call('evm_mine');
  const atMs = performance.now();
  const { number, hash } = await node.call<{ number: string; hash: string }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  return { number: Number(number), hash, atMs };
}
