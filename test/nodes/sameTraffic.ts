import { type Anvil, connect, createTraffic, type Node } from '../support/anvil.ts';
import { type Geth, mined } from '../support/geth.ts';

/** A result of `eth_getBlockByNumber` with full transactions; only the members that tests read are declared. */
export interface RawBlock {
  readonly number: string;
  readonly hash: string;
  readonly transactions: readonly { readonly hash: string; readonly input: string; readonly gas: string }[];
}

/** A block of anvil with the result of `trace_block`. */
export interface AnvilBlock {
  readonly block: RawBlock;
  readonly receipts: readonly RawReceipt[];
  readonly traceBlock: readonly unknown[];
}

/** A block of geth with the results of `debug_traceBlockByHash` with both tracers. */
export interface GethBlock {
  readonly block: RawBlock;
  readonly receipts: readonly RawReceipt[];
  readonly callTracer: readonly unknown[];
  /** With `includePrecompiles`. */
  readonly flatCallTracer: readonly unknown[];
}

export interface RawReceipt {
  readonly transactionHash: string;
  readonly status: string;
  readonly gasUsed: string;
  readonly contractAddress: string | null;
}

/**
 * Results of both nodes for identical signed transactions in identical order. The blocks differ, because geth mines
 * each transaction immediately: match results by transaction hash.
 */
export interface IdenticalTraffic {
  readonly anvil: readonly AnvilBlock[];
  readonly geth: readonly GethBlock[];
  /** Description of each transaction, by hash. */
  readonly about: ReadonlyMap<string, string>;
}

export async function sendIdenticalTraffic(options: {
  readonly anvil: Pick<Anvil, 'url'>;
  readonly geth: Pick<Geth, 'url'>;
  readonly seed: number;
  readonly steps: number;
}): Promise<IdenticalTraffic> {
  const anvil = connect(options.anvil.url);
  const geth = connect(options.geth.url);
  // Calls to the coinbase cost less gas (EIP-3651), so both nodes must use the same coinbase.
  const [developer] = await geth.call<string[]>('eth_accounts');
  await anvil.call('anvil_setCoinbase', developer);
  const traffic = await createTraffic({ url: anvil.url, seed: options.seed });
  const about = new Map<string, string>();
  for (const block of await traffic.run({ steps: options.steps })) {
    for (const [index, transaction] of block.transactions.entries()) {
      const hash = await geth.call<string>('eth_sendRawTransaction', transaction);
      await mined(geth, hash); // one by one, because the pool orders by tip and the order changes the results
      about.set(hash, block.about[index] ?? '');
    }
  }
  return { anvil: await anvilBlocks(anvil), geth: await gethBlocks(geth), about };
}

async function anvilBlocks(node: Node): Promise<AnvilBlock[]> {
  const blocks: AnvilBlock[] = [];
  for (const number of await numbers(node)) {
    const block = await node.call<RawBlock>('eth_getBlockByNumber', number, true);
    const receipts = await node.call<RawReceipt[]>('eth_getBlockReceipts', number);
    blocks.push({ block, receipts, traceBlock: await node.call<unknown[]>('trace_block', number) });
  }
  return blocks;
}

async function gethBlocks(node: Node): Promise<GethBlock[]> {
  const blocks: GethBlock[] = [];
  for (const number of await numbers(node)) {
    const block = await node.call<RawBlock>('eth_getBlockByNumber', number, true);
    const [receipts, callTracer, flatCallTracer] = await Promise.all([
      node.call<RawReceipt[]>('eth_getBlockReceipts', number),
      node.call<unknown[]>('debug_traceBlockByHash', block.hash, { tracer: 'callTracer' }),
      node.call<unknown[]>('debug_traceBlockByHash', block.hash, {
        tracer: 'flatCallTracer',
        tracerConfig: { includePrecompiles: true },
      }),
    ]);
    blocks.push({ block, receipts, callTracer, flatCallTracer });
  }
  return blocks;
}

/** Returns the numbers of all blocks after the genesis as quantities. */
async function numbers(node: Node): Promise<string[]> {
  const height = Number(await node.call('eth_blockNumber'));
  return Array.from({ length: height }, (_, index) => `0x${(index + 1).toString(16)}`);
}
