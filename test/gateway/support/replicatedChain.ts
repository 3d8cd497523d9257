import { type Anvil, connect, createTraffic, startAnvil, type TrafficBlock } from '../../support/anvil.ts';

export interface ReplicatedChain {
  readonly nodes: readonly Anvil[];
  /** Mines blocks on the first node and replays them on all others. */
  grow(blocks: number): Promise<void>;
  /** Mines blocks on the first node only; `copy` replays them on the others. */
  growFirstNode(blocks: number): Promise<void>;
  copy(): Promise<void>;
  /** Starts a new node on the port of a killed one and replays all copied blocks on it. */
  restartNode(place: number): Promise<void>;
  /** Replaces the last `depth` blocks on every node at once with others, identical on all nodes. */
  replace(depth: number): Promise<void>;
  head(): number;
  stop(): Promise<void>;
}

const GENESIS_TIME = '1700000000';
const BLOCK_SECONDS = 12;

/** Starts several nodes with the same chain, including block hashes. */
export async function startReplicatedChain(
  count: number,
  { seed = 3, chainId = 31_337 } = {},
): Promise<ReplicatedChain> {
  const extraArgs = ['--timestamp', GENESIS_TIME, '--chain-id', String(chainId)];
  const nodes = await Promise.all(Array.from({ length: count }, () => startAnvil({ extraArgs })));
  const first = nodes[0];
  if (first === undefined) throw new Error('startSameChain requires at least one node');
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
    growFirstNode: growFirst,
    copy,
    async grow(blocks) {
      await growFirst(blocks);
      await copy();
    },
    async restartNode(place) {
      const killed = nodes[place];
      await killed?.exited;
      const port = Number(new URL(killed?.url ?? '').port);
      nodes[place] = await startAnvil({ port, extraArgs });
      await replay(nodes[place].url, made.slice(0, copied));
    },
    async replace(depth) {
      await Promise.all(nodes.map(({ url }) => connect(url).call('anvil_rollback', depth)));
      const others = Array.from({ length: depth }, () => ({ transactions: [] }));
      // A different block time makes the hashes of these blocks differ from all others.
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
