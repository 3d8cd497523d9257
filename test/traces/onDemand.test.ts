import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SpoiltNode, startSpoiltNode } from '../gateway/support/spoiltNode.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { plainFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { ask, type FilterAnswer } from './support/ask.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const BLOCKS = 100;
const INDEX_FROM = 90;
const SEED = 41;
/** anvil takes the block 64 below its head for final. */
const FINAL_DEPTH = 64;

const plain = (chain: NodeChain, fromBlock: number, toBlock: number): unknown =>
  plainFilter(chain.traces, {
    ...{ fromBlock, toBlock, fromAddresses: [], toAddresses: [], mode: 'intersection' },
    ...{ after: 0, count: 200 },
  });

describe('blocks below index.from that are asked for', () => {
  let anvil: Anvil;
  /** A fake in part: a proxy before the real anvil, which counts and holds back what it is told to. */
  let node: SpoiltNode;
  /** How often the traces of a block were asked for. */
  const asked = new Map<number, number>();
  /** Blocks whose traces the node gives only once this is over. */
  let holdBack: { readonly blocks: (block: number) => boolean; readonly until: Promise<unknown> } | undefined;

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: SEED })).run({ steps: BLOCKS });
    node = await startSpoiltNode(anvil.url);
    node.spoil = async ({ body }, answer) => {
      const block = Number(/"trace_block","params":\["(0x[0-9a-f]+)"/.exec(body)?.[1]);
      if (Number.isNaN(block)) return answer();
      asked.set(block, (asked.get(block) ?? 0) + 1);
      const text = await answer();
      if (holdBack?.blocks(block)) await holdBack.until;
      return text;
    };
  });
  afterAll(() => Promise.all([node.stop(), anvil.stop()]));

  async function withFloodgate(use: (floodgate: Floodgate) => Promise<void>): Promise<void> {
    const args = [
      ...['--index-from', String(INDEX_FROM), '--index-poll-interval-ms', '50'],
      ...['--index-finality', 'node'],
    ];
    const floodgate = await startFloodgate({ upstream: node.url, args });
    asked.clear();
    try {
      await use(floodgate);
    } finally {
      holdBack = undefined;
      await floodgate.stop();
    }
  }

  async function caughtUp(floodgate: Floodgate): Promise<NodeChain> {
    const chain = await readChain(anvil.url);
    await until('the index has the last block of the node', async () => {
      const { result } = await ask(floodgate.gatewayUrl, { count: 1 });
      return result?.[0]?.blockHash === chain.hashes[chain.head];
    });
    return chain;
  }

  it('are fetched once, final or not, however many ask for them at the same time', () =>
    withFloodgate(async ({ gatewayUrl }) => {
      const chain = await readChain(anvil.url);
      const final = chain.head - FINAL_DEPTH;
      const ranges = Array.from({ length: 40 }, (_, i) => {
        const from = (i * 7) % (INDEX_FROM - 8);
        return [from, from + (i % 8)] as const;
      });
      expect(ranges.some(([from]) => from <= final) && ranges.some(([from]) => from > final)).toBe(true);
      const answers = await Promise.all(
        ranges.map(([fromBlock, toBlock]) => ask(gatewayUrl, { fromBlock, toBlock })),
      );
      answers.forEach(({ result, error }, i) => {
        const [fromBlock, toBlock] = ranges[i] ?? [0, 0];
        expect(error).toBeUndefined();
        expect(result).toEqual(plain(chain, fromBlock, toBlock));
      });
      expect([...asked].filter(([, times]) => times > 1)).toEqual([]);
    }));

  it('are answered from one chain, before, while and after they are replaced by others', () =>
    withFloodgate(async (floodgate) => {
      const before = await caughtUp(floodgate);
      const first = before.head - FINAL_DEPTH + 1;
      const range = [first, first + 9] as const;
      let goOn = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      // Some of the old chain is on its way when all that is not final is replaced, and arrives after that.
      holdBack = { blocks: (block) => block < INDEX_FROM && block % 2 === 0, until: released };
      const [fromBlock, toBlock] = range;
      const asking = Array.from({ length: 8 }, () => ask(floodgate.gatewayUrl, { fromBlock, toBlock }));
      await until('blocks are on their way', () => asked.size > 0);
      await rebuildTail(anvil.url, { depth: FINAL_DEPTH - 2, blocks: FINAL_DEPTH, seed: SEED + 1 });
      goOn();
      const answers: FilterAnswer[] = await Promise.all(asking);
      const after = await caughtUp(floodgate);
      const chains = [before, after].map((chain) => JSON.stringify(plain(chain, ...range)));
      for (const { result, error } of answers)
        if (error === undefined) expect(chains).toContain(JSON.stringify(result));
        else expect(error).toMatchObject({ code: -32001 });
      const { result } = await until('the new blocks are answered', async () => {
        const answer = await ask(floodgate.gatewayUrl, { fromBlock, toBlock });
        return answer.error === undefined && answer;
      });
      expect(JSON.stringify(result)).toBe(chains[1]);

      // Again, now that they are in the index: nobody asks for them meanwhile.
      await rebuildTail(anvil.url, { depth: FINAL_DEPTH - 4, blocks: FINAL_DEPTH, seed: SEED + 2 });
      const last = await caughtUp(floodgate);
      expect((await ask(floodgate.gatewayUrl, { fromBlock, toBlock })).result).toEqual(plain(last, ...range));
    }));

  it('do not wait for others that are slow to come', async () => {
    let goOn = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const chain = await readChain(anvil.url);
    await withFloodgate(async ({ gatewayUrl }) => {
      holdBack = { blocks: (block) => block < 20, until: released };
      const held = ask(gatewayUrl, { fromBlock: 2, toBlock: 19 });
      await until('it is held back', () => [...asked.keys()].some((block) => block < 20));
      const { result } = await ask(gatewayUrl, { fromBlock: 25, toBlock: 30 });
      expect(result).toEqual(plain(chain, 25, 30));
      goOn();
      expect((await held).result).toEqual(plain(chain, 2, 19));
    });
  });
});
