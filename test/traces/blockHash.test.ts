import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_COUNT } from '../../src/ethereum/traces/index.ts';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { canListProcesses } from '../server/support/processes.ts';
import { startWorkersServer } from '../server/support/workersServer.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { callTraceFilter } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const BLOCKS = 40;
/** Older blocks are fetched on demand. */
const INDEX_FROM = 20;
const UNKNOWN = `0x${'12'.repeat(32)}`;

const plain = ({ traces }: NodeChain, number: number, more: object = {}): unknown[] =>
  referenceFilter(traces, {
    fromBlock: number,
    toBlock: number,
    fromAddresses: [],
    toAddresses: [],
    mode: 'intersection',
    after: 0,
    count: MAX_COUNT,
    ...more,
  });

const ARGS = ['--index-from', String(INDEX_FROM), '--index-poll-interval-ms', '50'];
const KINDS = [
  ['one process', (upstream: string) => startFloodgate({ upstream, args: ARGS })],
  ['workers', (upstream: string) => startWorkersServer({ upstream, args: ARGS }, 2)],
] as const;

describe.each(KINDS)('trace_filter with a block hash, %s', (kind, start) => {
  const isSkipped = kind === 'workers' && !canListProcesses;
  let anvil: Anvil;
  /** A proxy of a real anvil that counts requests. */
  let node: InterceptedNode;
  let floodgate: Floodgate;
  let chain: NodeChain;
  let seed = 35;

  beforeAll(async () => {
    if (isSkipped) return;
    anvil = await startAnvil();
    node = await startInterceptedNode(anvil.url);
    await grow(BLOCKS);
    floodgate = await start(node.url);
  });
  afterAll(() => Promise.all([floodgate?.stop(), node?.stop(), anvil?.stop()]));

  async function grow(steps: number): Promise<void> {
    await (await createTraffic({ url: anvil.url, seed: seed++ })).run({ steps });
    chain = await readChain(anvil.url);
  }
  const asked = (number: number, more: object = {}) =>
    callTraceFilter(floodgate.gatewayUrl, { blockHash: chain.hashes[number], ...more });
  const lookUps = (): number => node.counts.get('eth_getBlockByHash') ?? 0;

  it.skipIf(isSkipped)('returns the traces of the block, indexed or not', async () => {
    for (let number = 0; number <= chain.head; number++)
      expect((await asked(number)).result, `block ${number}`).toEqual(plain(chain, number));
  });

  it.skipIf(isSkipped)('accepts all other members and the hash in any letter case', async () => {
    const upper = chain.hashes[chain.head]?.toUpperCase().replace('0X', '0x');
    const { result } = await callTraceFilter(floodgate.gatewayUrl, {
      blockHash: upper,
      fromBlock: null,
      toBlock: null,
    });
    expect(result).toEqual(plain(chain, chain.head));
    for (const address of addressesOf(chain.traces).slice(0, 10)) {
      const sides = { fromAddress: address, toAddress: [address], mode: 'union', after: 1, count: 3 };
      const [fromAddresses, toAddresses] = [[address], [address]];
      const meant = { fromAddresses, toAddresses, mode: 'union', after: 1, count: 3 };
      expect((await asked(chain.head, sides)).result).toEqual(plain(chain, chain.head, meant));
    }
  });

  it.skipIf(isSkipped)('returns -32001 for an unknown hash, not []', async () => {
    const { error } = await callTraceFilter(floodgate.gatewayUrl, { blockHash: UNKNOWN });
    expect(error).toMatchObject({ code: -32001, data: { blockHash: UNKNOWN } });
  });

  it.skipIf(isSkipped)(
    'sends no node request for a count of 0, and one request per hash in one process',
    async () => {
      const before = lookUps();
      expect((await callTraceFilter(floodgate.gatewayUrl, { blockHash: UNKNOWN, count: 0 })).result).toEqual(
        [],
      );
      expect(lookUps()).toBe(before);
      if (kind === 'workers') return;
      await grow(1);
      for (let i = 0; i < 3; i++) expect((await asked(chain.head)).error).toBeUndefined();
      expect(lookUps()).toBe(before + 1);
    },
  );

  it.skipIf(isSkipped)('returns a block as soon as the node has it', async () => {
    for (let i = 0; i < 5; i++) {
      await grow(1);
      expect((await asked(chain.head)).result).toEqual(plain(chain, chain.head));
    }
  });

  it.skipIf(isSkipped)('returns -32001 for a replaced block, and the new block immediately', async () => {
    for (const [depth, blocks] of [
      [1, 1],
      [3, 3],
      [4, 6],
      [5, 3],
    ] as const) {
      await asked(chain.head);
      const before = chain;
      await rebuildTail(anvil.url, { depth, blocks, seed: seed++ });
      chain = await readChain(anvil.url);
      const first = before.head - depth + 1;
      for (let number = chain.head; number >= first; number--)
        expect((await asked(number)).result, `block ${number}`).toEqual(plain(chain, number));
      for (const blockHash of before.hashes.slice(first)) {
        const { error } = await callTraceFilter(floodgate.gatewayUrl, { blockHash });
        expect(error).toMatchObject({ code: -32001, data: { blockHash } });
      }
      expect((await asked(first - 1)).result).toEqual(plain(chain, first - 1));
    }
  });

  it.skipIf(isSkipped)('returns -32603 while no node returns the number of a new hash', async () => {
    node.intercept = ({ methods }, answer) => {
      if (methods.includes('eth_getBlockByHash')) throw new Error('no answer');
      return answer();
    };
    try {
      const known = await asked(chain.head - 1, { count: 1 });
      if (kind === 'one process') expect(known.error).toBeUndefined();
      const { error } = await callTraceFilter(floodgate.gatewayUrl, { blockHash: UNKNOWN });
      expect(error).toMatchObject({ code: -32603, data: { reason: 'noNode' } });
    } finally {
      node.intercept = undefined;
    }
  });
});
