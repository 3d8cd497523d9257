import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Address, HistoryFilter, Trace } from '../../src/ethereum/traces/index.ts';
import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { plainSummary, referenceHistory } from '../support/plainHistory.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type Answer, callMethod } from './support/callMethod.ts';
import { callTraceFilter } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 23);
/** With the scripted blocks more than 64, so that the chain has final blocks. */
const RANDOM_BLOCKS = 70;
const HISTORIES = sizeInSearch(60, { ordinary: 20 });
const REORGANISATIONS = 3;

interface Page {
  readonly traces: readonly Trace[];
  readonly cursor: string | null;
  readonly range: { readonly fromBlock: number; readonly toBlock: number };
  readonly missing: readonly [number, number][];
}

const ADDRESS = `0x${'ab'.repeat(20)}`;
const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`);

/** Invalid parameters, with the texts that the error message must contain. */
const REFUSED: readonly {
  readonly says: string;
  readonly param: unknown;
  readonly code?: number;
  readonly names: readonly string[];
  readonly data?: unknown;
}[] = [
  { says: 'a string as parameter', param: 'x', names: ['params[0] (history)', '"x"'] },
  { says: 'a list as parameter', param: [], names: ['params[0] (history)'] },
  { says: 'a missing address', param: {}, names: ['address', 'missing'] },
  { says: 'an empty list of addresses', param: { address: [] }, names: ['address', '1 to 20'] },
  { says: 'a short address', param: { address: '0x12' }, names: ['address', '0x12'] },
  { says: 'an invalid second address', param: { address: [ADDRESS, 5] }, names: ['address[1]', '5'] },
  {
    says: '21 addresses',
    param: { address: addresses(21) },
    code: -32005,
    names: ['addresses', '20', '21'],
    data: { limit: 20, requested: 21 },
  },
  { says: 'an unknown member', param: { address: ADDRESS, adress: 1 }, names: ['"adress"', 'callTypes'] },
  {
    says: 'an unknown direction',
    param: { address: ADDRESS, direction: 'both' },
    names: ['direction', 'either'],
  },
  { says: 'an unknown order', param: { address: ADDRESS, order: 'DESC' }, names: ['order', '"desc"'] },
  {
    says: 'an unknown type',
    param: { address: ADDRESS, types: ['swap'] },
    names: ['types[0]', 'swap', 'suicide'],
  },
  { says: 'an empty list of types', param: { address: ADDRESS, types: [] }, names: ['types', '1 to 4'] },
  { says: 'a string as types', param: { address: ADDRESS, types: 'call' }, names: ['types', '"call"'] },
  {
    says: 'an unknown call type',
    param: { address: ADDRESS, callTypes: ['call', 'create2'] },
    names: ['callTypes[1]', 'staticcall'],
  },
  { says: 'a decimal minValue', param: { address: ADDRESS, minValue: '10' }, names: ['minValue', '"10"'] },
  {
    says: 'a minValue of 257 bits',
    param: { address: ADDRESS, minValue: `0x1${'0'.repeat(64)}` },
    names: ['minValue'],
  },
  { says: 'a negative minValue', param: { address: ADDRESS, minValue: -1 }, names: ['minValue', '-1'] },
  {
    says: 'internal as a string',
    param: { address: ADDRESS, internal: 'true' },
    names: ['internal', 'true or false'],
  },
  { says: 'failed as a number', param: { address: ADDRESS, failed: 1 }, names: ['failed', 'true or false'] },
  { says: 'a limit of 0', param: { address: ADDRESS, limit: 0 }, names: ['limit', '1 to 200'] },
  {
    says: 'a limit of 201',
    param: { address: ADDRESS, limit: 201 },
    code: -32005,
    names: ['limit', '200', '201'],
    data: { limit: 200, requested: 201 },
  },
  {
    says: 'the pending block',
    param: { address: ADDRESS, toBlock: 'pending' },
    names: ['toBlock', 'pending'],
  },
  {
    says: 'a reversed range',
    param: { address: ADDRESS, fromBlock: 5, toBlock: 4 },
    names: ['fromBlock 5', 'toBlock 4'],
  },
  {
    says: 'a bound past the head',
    param: { address: ADDRESS, toBlock: 100_000 },
    names: ['toBlock 100000', 'head'],
  },
  { says: 'a cursor that is a number', param: { address: ADDRESS, cursor: 5 }, names: ['cursor', '5'] },
  { says: 'an empty cursor', param: { address: ADDRESS, cursor: '' }, names: ['cursor'] },
  {
    says: 'an invalid cursor',
    param: { address: ADDRESS, cursor: 'AAAA' },
    names: ['cursor', 'omit it'],
  },
  {
    says: 'an invalid cursor of the right length',
    param: { address: ADDRESS, cursor: 'AQ'.repeat(21) },
    names: ['cursor'],
  },
  {
    says: 'a cursor of a megabyte',
    param: { address: ADDRESS, cursor: 'A'.repeat(2 ** 20) },
    names: ['cursor'],
  },
];

describe(`the history of an address compared with a plain filter over the node's traces, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let anvil: Anvil;
  let floodgate: Floodgate;

  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: SEED });
    await traffic.run({ steps: SCRIPT_BLOCKS + RANDOM_BLOCKS });
    floodgate = await startFloodgate({
      upstream: anvil.url,
      args: ['--index-from', '0', '--index-poll-interval-ms', '50'],
    });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await anvil?.stop();
  });

  const page = (param: unknown): Promise<Answer<Page>> =>
    callMethod<Page>(floodgate.gatewayUrl, 'floodgate_addressTraces', param);

  async function indexedChain(): Promise<NodeChain> {
    const chain = await readChain(anvil.url);
    await until('all blocks of the node to be indexed', async () => {
      const { result } = await callTraceFilter(floodgate.gatewayUrl, { count: 1 });
      const first = await page({ address: ADDRESS });
      const isWhole = first.result?.range.fromBlock === 0 && first.result.missing.length === 0;
      return isWhole && result?.[0]?.blockHash === chain.hashes[chain.head];
    });
    return chain;
  }

  /** Reads all pages of a history. */
  async function walk(asked: object): Promise<{ traces: Trace[]; pages: number }> {
    const traces: Trace[] = [];
    let cursor: string | null | undefined;
    for (let pages = 0; ; pages++) {
      if (cursor === null) return { traces, pages };
      const { result, error } = await page({ ...asked, cursor });
      expect(error).toBeUndefined();
      traces.push(...(result?.traces ?? []));
      expect(result?.missing).toEqual([]);
      cursor = result?.cursor;
      expect(pages).toBeLessThan(1_000);
    }
  }

  function randomHistory(chain: NodeChain): { asked: object; plain: Parameters<typeof referenceHistory>[1] } {
    const known = addressesOf(chain.traces);
    const some = Array.from({ length: random.pick([1, 1, 2, 5]) }, () => random.pick([...known]) as Address);
    const direction = random.pick(['from', 'to', 'either'] as const);
    const order = random.pick(['asc', 'desc'] as const);
    const sometimes = <T>(value: T): T | undefined => (random.chance(0.3) ? value : undefined);
    const types = sometimes(random.pick([['call'], ['create', 'suicide'], ['call', 'create']] as const));
    const callTypes = sometimes(random.pick([['call'], ['delegatecall', 'staticcall']] as const));
    const minValue = sometimes(random.pick(['0x0', '0x1', '0xde0b6b3a7640000', 1000]));
    const internal = sometimes(random.chance(0.5));
    const failed = sometimes(random.chance(0.5));
    const kinds =
      (types ?? callTypes) &&
      (types ?? (['call', 'create', 'suicide', 'reward'] as const)).flatMap((type) =>
        type === 'call'
          ? (callTypes ?? (['call', 'callcode', 'delegatecall', 'staticcall'] as const))
          : [type],
      );
    const filter: HistoryFilter = {
      ...(kinds !== undefined && { kinds }),
      ...(minValue !== undefined && { minValue: BigInt(minValue) }),
      ...(internal !== undefined && { internal }),
      ...(failed !== undefined && { failed }),
    };
    const limit = random.chance(0.3) ? undefined : random.pick([1 + random.below(20), 200]);
    const asked = {
      address: some.length === 1 ? some[0] : some,
      direction,
      order,
      types,
      callTypes,
      minValue,
    };
    return {
      asked: { ...asked, internal, failed, limit },
      plain: { addresses: some, direction, order, filter },
    };
  }

  it('is identical page by page and after reorganisations', async () => {
    let found = 0;
    for (let round = 0; round <= REORGANISATIONS; round++) {
      const chain = await indexedChain();
      for (let i = 0; i < HISTORIES / (REORGANISATIONS + 1); i++) {
        const { asked, plain } = randomHistory(chain);
        const { traces } = await walk(asked);
        expect(traces, JSON.stringify(asked)).toEqual(
          referenceHistory(chain.traces, plain, { fromBlock: 0, toBlock: chain.head }),
        );
        found += traces.length;
      }
      const depth = random.between(1, 12);
      await rebuildTail(anvil.url, { depth, blocks: depth + 1, seed: SEED + round });
    }
    expect(found).toBeGreaterThan(10 * HISTORIES);
  });

  it('continues while blocks are added, and reports a replaced block at the cursor', async () => {
    const chain = await indexedChain();
    const [address = ''] = addressesOf(chain.traces);
    const newest = await page({ address, limit: 1 });
    const oldest = await page({ address, limit: 1, order: 'asc' });
    const depth = chain.head - (newest.result?.traces[0]?.blockNumber ?? 0) + 1;
    await rebuildTail(anvil.url, { depth, blocks: depth + 2, seed: SEED + 50 });
    await indexedChain();
    const replaced = await page({ address, limit: 1, cursor: newest.result?.cursor });
    expect(replaced.error).toMatchObject({
      code: -32001,
      message: expect.stringContaining('was replaced'),
      data: { reason: 'blockReplaced', blockNumber: chain.head - depth + 1 },
    });
    const more = await page({ address, limit: 1, order: 'asc', cursor: oldest.result?.cursor });
    expect(more.error).toBeUndefined();
    expect(more.result?.range).toEqual({ fromBlock: 0, toBlock: chain.head });
  });

  it('rejects a truncated cursor and one of another query, and accepts a changed limit', async () => {
    const chain = await indexedChain();
    const [address = '', other] = addressesOf(chain.traces);
    const { result } = await page({ address, limit: 2 });
    const cursor = result?.cursor ?? '';
    expect(cursor).toMatch(/^[\w-]{40,90}$/);
    for (const changed of [
      { address: other },
      { order: 'asc' },
      { direction: 'to' },
      { failed: false },
      { minValue: 1 },
      { toBlock: 'finalized' },
      { cursor: cursor.slice(0, -1) },
      { cursor: `${cursor}A` },
      { cursor: cursor.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) },
    ]) {
      const { error } = await page({ address, limit: 2, cursor, ...changed });
      expect(error, JSON.stringify(changed)).toMatchObject({ code: -32602 });
      expect(error?.message).toContain('cursor');
    }
    const next = await page({ address, limit: 3, cursor });
    expect(next.error).toBeUndefined();
    const { result: whole } = await page({ address, limit: 5 });
    expect([...(result?.traces ?? []), ...(next.result?.traces ?? [])]).toEqual(whole?.traces);
  });

  it('has a summary equal to a plain sum', async () => {
    const chain = await indexedChain();
    const [, ...known] = addressesOf(chain.traces);
    for (const address of [...known.slice(0, 12), ADDRESS]) {
      const { result } = await callMethod<Record<string, unknown>>(
        floodgate.gatewayUrl,
        'floodgate_addressSummary',
        { address },
      );
      const range = { fromBlock: 0, toBlock: chain.head };
      const {
        counts,
        value,
        firstBlock = null,
        lastBlock = null,
      } = plainSummary(chain.traces, address, range);
      const named = ([call, create, suicide, reward]: readonly number[]) => ({
        call,
        create,
        suicide,
        reward,
      });
      expect(result, address).toEqual({
        range,
        firstBlock,
        lastBlock,
        counts: { from: named(counts.from), to: named(counts.to), partial: false, range },
        value: {
          in: `0x${value.to.toString(16)}`,
          out: `0x${value.from.toString(16)}`,
          partial: false,
          range,
        },
        missing: [],
      });
    }
  });

  describe('rejects', () => {
    it.each(REFUSED)('$says', async ({ param, code = -32602, names, data }) => {
      const { error } = await page(param);
      expect(error).toMatchObject({ code, ...(data !== undefined && { data }) });
      for (const name of names) expect(error?.message).toContain(name);
      expect(error?.message.length).toBeLessThan(400);
    });

    it('invalid parameters of a summary', async () => {
      for (const [param, name] of [
        [{}, 'address'],
        [{ address: [ADDRESS] }, 'address'],
        [{ address: ADDRESS, order: 'asc' }, '"order"'],
        [{ address: ADDRESS, fromBlock: 9, toBlock: 8 }, 'fromBlock 9'],
        [{ address: ADDRESS, toBlock: 1e9 }, 'head'],
      ] as const) {
        const { error } = await callMethod(floodgate.gatewayUrl, 'floodgate_addressSummary', param);
        expect(error, JSON.stringify(param)).toMatchObject({ code: -32602 });
        expect(error?.message).toContain(name);
      }
    });
  });
});
