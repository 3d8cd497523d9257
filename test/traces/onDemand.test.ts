import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_COUNT } from '../../src/ethereum/traces/index.ts';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter, type FilterAnswer } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const BLOCKS = 100;
const INDEX_FROM = 90;
const SEED = 41;
/** anvil's `finalized` block is 64 below its head. */
const FINAL_DEPTH = 64;

const plain = (chain: NodeChain, fromBlock: number, toBlock: number): unknown =>
  referenceFilter(chain.traces, {
    fromBlock,
    toBlock,
    fromAddresses: [],
    toAddresses: [],
    mode: 'intersection',
    after: 0,
    count: MAX_COUNT,
  });

describe('requested blocks below index.from', () => {
  let anvil: Anvil;
  /** A proxy of a real anvil that counts trace requests and can delay them. */
  let node: InterceptedNode;
  /** Number of trace requests by block. */
  const asked = new Map<number, number>();
  /** Delays the traces of the selected blocks until the promise resolves. */
  let holdBack: { readonly blocks: (block: number) => boolean; readonly until: Promise<unknown> } | undefined;

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: SEED })).run({ steps: BLOCKS });
    node = await startInterceptedNode(anvil.url);
    node.intercept = async ({ body }, answer) => {
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
      '--index-from',
      String(INDEX_FROM),
      '--index-poll-interval-ms',
      '50',
      '--index-finality',
      'node',
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
    await until('the last block of the node to be indexed', async () => {
      const { result } = await callTraceFilter(floodgate.gatewayUrl, { count: 1 });
      return result?.[0]?.blockHash === chain.hashes[chain.head];
    });
    return chain;
  }

  it('are fetched once, final or not, for 40 concurrent requests', () =>
    withFloodgate(async ({ gatewayUrl }) => {
      const chain = await readChain(anvil.url);
      const final = chain.head - FINAL_DEPTH;
      const ranges = Array.from({ length: 40 }, (_, i) => {
        const from = (i * 7) % (INDEX_FROM - 8);
        return [from, from + (i % 8)] as const;
      });
      expect(ranges.some(([from]) => from <= final) && ranges.some(([from]) => from > final)).toBe(true);
      const answers = await Promise.all(
        ranges.map(([fromBlock, toBlock]) =>
          callTraceFilter(gatewayUrl, { fromBlock, toBlock, count: MAX_COUNT }),
        ),
      );
      answers.forEach(({ result, error }, i) => {
        const [fromBlock, toBlock] = ranges[i] ?? [0, 0];
        expect(error).toBeUndefined();
        expect(result).toEqual(plain(chain, fromBlock, toBlock));
      });
      expect([...asked].filter(([, times]) => times > 1)).toEqual([]);
    }));

  it('are served from one chain before, during and after a reorganisation', () =>
    withFloodgate(async (floodgate) => {
      const before = await caughtUp(floodgate);
      const first = before.head - FINAL_DEPTH + 1;
      const range = [first, first + 9] as const;
      let goOn = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      // Delays traces of the old chain until all blocks that are not final have been replaced.
      holdBack = { blocks: (block) => block < INDEX_FROM && block % 2 === 0, until: released };
      const [fromBlock, toBlock] = range;
      const asking = Array.from({ length: 8 }, () =>
        callTraceFilter(floodgate.gatewayUrl, { fromBlock, toBlock, count: MAX_COUNT }),
      );
      await until('blocks to be requested', () => asked.size > 0);
      await rebuildTail(anvil.url, { depth: FINAL_DEPTH - 2, blocks: FINAL_DEPTH, seed: SEED + 1 });
      goOn();
      const answers: FilterAnswer[] = await Promise.all(asking);
      const after = await caughtUp(floodgate);
      const chains = [before, after].map((chain) => JSON.stringify(plain(chain, ...range)));
      for (const { result, error } of answers)
        if (error === undefined) expect(chains).toContain(JSON.stringify(result));
        else expect(error).toMatchObject({ code: -32001 });
      const { result } = await until('the new blocks to be served', async () => {
        const answer = await callTraceFilter(floodgate.gatewayUrl, { fromBlock, toBlock, count: MAX_COUNT });
        return answer.error === undefined && answer;
      });
      expect(JSON.stringify(result)).toBe(chains[1]);

      // Replaces the blocks again after they were indexed, this time without concurrent requests.
      await rebuildTail(anvil.url, { depth: FINAL_DEPTH - 4, blocks: FINAL_DEPTH, seed: SEED + 2 });
      const last = await caughtUp(floodgate);
      expect(
        (await callTraceFilter(floodgate.gatewayUrl, { fromBlock, toBlock, count: MAX_COUNT })).result,
      ).toEqual(plain(last, ...range));
    }));

  it('do not wait for other blocks of a slow node', async () => {
    let goOn = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const chain = await readChain(anvil.url);
    await withFloodgate(async ({ gatewayUrl }) => {
      holdBack = { blocks: (block) => block < 20, until: released };
      const held = callTraceFilter(gatewayUrl, { fromBlock: 2, toBlock: 19, count: MAX_COUNT });
      await until('the slow request', () => [...asked.keys()].some((block) => block < 20));
      const { result } = await callTraceFilter(gatewayUrl, { fromBlock: 25, toBlock: 30 });
      expect(result).toEqual(plain(chain, 25, 30));
      goOn();
      expect((await held).result).toEqual(plain(chain, 2, 19));
    });
  });
});
