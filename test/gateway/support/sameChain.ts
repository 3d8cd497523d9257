import { type Anvil, connect, createTraffic, startAnvil, type TrafficBlock } from '../../support/anvil.ts';

export interface SameChain {
  readonly nodes: readonly Anvil[];
  /** Makes blocks on the first node, and the same on all others. */
  grow(blocks: number): Promise<void>;
  /** Makes the blocks on the first node alone; `copy` gives them to the others. */
  growFirst(blocks: number): Promise<void>;
  copy(): Promise<void>;
  /** Starts another node where one was killed: it begins anew and is given all blocks that were made. */
  startAgain(place: number): Promise<void>;
  /** Takes the last blocks back on every node at once, and makes as many others, the same on all. */
  replace(depth: number): Promise<void>;
  head(): number;
  stop(): Promise<void>;
}

const GENESIS_TIME = '1700000000';
const BLOCK_SECONDS = 12;

/** Several nodes with the same chain, block hashes included. */
export async function startSameChain(count: number, { seed = 3, chainId = 31_337 } = {}): Promise<SameChain> {
  const extraArgs = ['--timestamp', GENESIS_TIME, '--chain-id', String(chainId)];
  const nodes = await Promise.all(Array.from({ length: count }, () => startAnvil({ extraArgs })));
  const first = nodes[0];
  if (first === undefined) throw new Error('a chain needs a node');
  const traffic = await createTraffic({ url: first.url, seed, blockSeconds: BLOCK_SECONDS });
  const made: TrafficBlock[] = [];
  let copied = 0;
  let replaced = 0;
  const growFirst = async (blocks: number): Promise<void> => {
    made.push(...(await traffic.run({ steps: blocks })));
  };
  const copy = async (): Promise<void> => {
    const fresh = made.slice(copied);
    copied = made.length;
    await Promise.all(nodes.slice(1).map(({ url }) => replay(url, fresh)));
  };
  return {
    nodes,
    growFirst,
    copy,
    async grow(blocks) {
      await growFirst(blocks);
      await copy();
    },
    async startAgain(place) {
      const killed = nodes[place];
      await killed?.exited;
      const port = Number(new URL(killed?.url ?? '').port);
      nodes[place] = await startAnvil({ port, extraArgs });
      await replay(nodes[place].url, made.slice(0, copied));
    },
    async replace(depth) {
      await Promise.all(nodes.map(({ url }) => connect(url).call('anvil_rollback', depth)));
      const others = Array.from({ length: depth }, () => ({ transactions: [] }));
      // A pace of its own makes these blocks differ from all others.
      const blockSeconds = BLOCK_SECONDS + ++replaced;
      await Promise.all(nodes.map(({ url }) => replay(url, others, blockSeconds)));
    },
    head: () => made.at(-1)?.number ?? 0,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function replay(
  url: string,
  blocks: ReadonlyArray<Pick<TrafficBlock, 'transactions'> & Partial<TrafficBlock>>,
  blockSeconds = BLOCK_SECONDS,
): Promise<void> {
  const node = connect(url);
  for (const block of blocks) {
    const parent = await node.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
    for (const transaction of block.transactions) await node.call('eth_sendRawTransaction', transaction);
    await node.call('evm_setNextBlockTimestamp', Number(parent.timestamp) + blockSeconds);
    await node.call('evm_mine');
    const { hash } = await node.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false);
    if (block.hash !== undefined && hash !== block.hash)
      throw new Error(`block ${block.number} differs: ${hash}, not ${block.hash}`);
  }
}
