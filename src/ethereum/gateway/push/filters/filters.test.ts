import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BudgetLimits } from '../../../../platform/budgets/index.ts';
import { RpcError } from '../../../jsonrpc/index.ts';
import type { Hash } from '../../../traces/index.ts';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import { FilterMemory } from '../../http/limits/filterMemory.ts';
import type { AccessWatch } from '../../keys/accessWatch.ts';
import type { Network } from '../../relay/network.ts';
import type { HeadText } from '../live/live.ts';
import type { Sink } from '../live/sink.ts';
import { Filters } from './filters.ts';

const MINUTE_MS = 60_000;
const NETWORK = {
  pool: { isSingle: false, nodes: [], heads: { latest: { number: 1 } } },
  agreementMethods: [],
  metrics: { cacheResults: () => ({}) },
} as unknown as Network; // only the members that Filters uses

const of = (client: string) => ({
  mayStream: false,
  room: { charge: () => true, credit: () => undefined, freeConnection: () => undefined },
  limits: DEFAULT_LIMITS,
  address: () => client,
});

function filtersWith(waitingLimits: BudgetLimits = { perClient: 100, total: 150 }) {
  const sinks = new Set<Sink>();
  const hash = `0x${'ab'.repeat(32)}` as Hash; // 32 bytes
  const block = { number: 1, hash, parentHash: hash, header: '{}', logsBloom: undefined };
  const subscribe = (sink: Sink): (() => void) => {
    sinks.add(sink);
    return () => sinks.delete(sink);
  };
  const subscribeHeads = (sink: Sink, textOf: HeadText = ({ header }) => header) =>
    subscribe({ ...sink, push: () => sink.push(textOf(block)) });
  const memory = new FilterMemory();
  const live = { subscribeHeads, subscribeLogs: (_: unknown, sink: Sink) => subscribe(sink) };
  const watched = new Set<{ method: string | undefined; ended: (error: RpcError) => void }>();
  const accessWatch: Pick<AccessWatch, 'watch'> = {
    watch(_, method, ended) {
      const one = { method, ended };
      watched.add(one);
      return () => void watched.delete(one);
    },
  };
  const filters = new Filters({ network: NETWORK, live, memory, accessWatch, waitingLimits });
  /** Creates a log filter and returns its id and sink. */
  const make = async (client: string, keyId?: string): Promise<{ id: string; sink: Sink }> => {
    const id = await filters.make({}, { ...of(client), keyId });
    const sink = [...sinks].at(-1);
    if (sink === undefined) throw new Error('not subscribed');
    return { id, sink };
  };
  return { filters, sinks, memory, make, watched };
}

describe('HTTP filters', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('have ids that clients may convert to a number and back', async () => {
    const { make } = filtersWith();
    const { id } = await make('a');
    expect(`0x${BigInt(id).toString(16)}`).toBe(id);
    expect((await make('a')).id).not.toBe(id);
  });

  it('return each message once, in order', async () => {
    const { filters, make } = filtersWith();
    const { id, sink } = await make('a');
    for (const text of ['1', '2']) sink.push(text);
    expect([filters.changes(id), filters.changes(id)]).toEqual([['1', '2'], []]);
    sink.push('3');
    expect(filters.changes(id)).toEqual(['3']);
  });

  it('return the hash of each block', async () => {
    const { filters, sinks } = filtersWith();
    const id = await filters.make(undefined, of('a'));
    for (const sink of sinks) sink.push('');
    expect(filters.changes(id)).toEqual([`"0x${'ab'.repeat(32)}"`]);
    expect(() => filters.logs(id, of('a'))).toThrow('filter not found: it is a block filter');
  });

  it('end with the API key that created them, and release their memory', async () => {
    const { filters, sinks, memory, make, watched } = filtersWith();
    const { id } = await make('a');
    const ofBlocks = await filters.make(undefined, of('a'));
    expect([...watched].map(({ method }) => method)).toEqual(['eth_newFilter', 'eth_newBlockFilter']);
    for (const { ended } of watched) ended(new RpcError('unauthorized', 'revoked'));
    for (const one of [id, ofBlocks]) expect(() => filters.changes(one)).toThrow('ended with its API key');
    expect([watched.size, sinks.size, memory.total]).toEqual([0, 0, 0]);
  });

  it('expire after 5 minutes without a poll, and release their memory', async () => {
    const { filters, sinks, memory, make } = filtersWith();
    const [polled, other] = [await make('a'), await make('b')];
    vi.advanceTimersByTime(4 * MINUTE_MS);
    filters.changes(polled.id);
    vi.advanceTimersByTime(4 * MINUTE_MS);
    expect(filters.changes(polled.id)).toEqual([]);
    expect(() => filters.changes(other.id)).toThrow('filter not found');
    expect([filters.uninstall(other.id), filters.uninstall(polled.id), filters.uninstall(polled.id)]).toEqual(
      [false, true, false],
    );
    expect([sinks.size, memory.total]).toEqual([0, 0]);
  });

  it('end if a notification was missed, so that no gap stays unnoticed', async () => {
    const { filters, make } = filtersWith();
    const { id, sink } = await make('a');
    sink.push('1');
    sink.missed();
    expect(() => filters.changes(id)).toThrow('filter not found');
  });

  it('end if the waiting results exceed the limit of their client', async () => {
    const { filters, make } = filtersWith();
    const [large, small] = [await make('a'), await make('b')];
    small.sink.push('x');
    large.sink.push('x'.repeat(100));
    expect(filters.changes(large.id)).toHaveLength(1);
    large.sink.push('x'.repeat(101));
    expect(() => filters.changes(large.id)).toThrow(
      /^filter not found: .* because results would have been lost/,
    );
    expect(filters.changes(small.id)).toEqual(['x']);
  });

  it('end first for the client with the most bytes if the total limit is exceeded', async () => {
    const { filters, make } = filtersWith();
    const one = await make('one');
    const many = [await make('many'), await make('many'), await make('many')];
    one.sink.push('x'.repeat(60));
    for (const { sink } of many) sink.push('x'.repeat(31));
    // This filter is larger than each of the others, but its client uses fewer bytes in total.
    expect(filters.changes(one.id)).toHaveLength(1);
    const ended = many.filter(({ id }) => {
      try {
        return filters.changes(id).length === 0;
      } catch (error) {
        return error instanceof RpcError;
      }
    });
    expect(ended).toHaveLength(1);
  });

  it('are limited to 1,000 per client', async () => {
    const { filters, make, memory } = filtersWith();
    for (let i = 0; i < 1_000; i++) await make('a');
    await expect(make('a')).rejects.toThrow(
      /^filters of one address: at most 1000, requested 1001; end others with eth_uninstallFilter, or try again/,
    );
    await make('b');
    filters.stop();
    expect(memory.total).toBe(0);
  });

  it('remain available to others if 100 addresses create as many as they can', async () => {
    const { filters, make } = filtersWith();
    const fill = async (client: string): Promise<number> => {
      for (let count = 0; ; count++)
        try {
          await make(client);
        } catch {
          return count;
        }
    };
    for (let i = 0; i < 100; i++) await fill(`192.0.2.${i}`);
    expect(await fill('198.51.100.1')).toBeGreaterThanOrEqual(10);
    filters.stop();
  });

  it('of one API key have one share of the waiting results, from any number of addresses', async () => {
    const { filters, make } = filtersWith();
    const first = await make('a', 'k');
    const second = await make('b', 'k');
    const other = await make('c', 'l');
    first.sink.push('x'.repeat(60));
    second.sink.push('x'.repeat(60));
    other.sink.push('x'.repeat(60));
    expect(filters.changes(first.id)).toHaveLength(1);
    expect(() => filters.changes(second.id)).toThrow('filter not found');
    expect(filters.changes(other.id)).toHaveLength(1);
  });

  it('leave results to a new client if 100 addresses let as many wait as they can', async () => {
    const { filters, make } = filtersWith({
      perClient: 8_000,
      total: 64_000,
      partOfFree: 1 / 8,
      minShare: 500,
    });
    const greedy = await Promise.all(Array.from({ length: 100 }, (_, i) => make(`192.0.2.${i}`)));
    for (let round = 0; round < 100; round++) for (const { sink } of greedy) sink.push('x'.repeat(100));
    const polite = await make('198.51.100.1');
    for (let i = 0; i < 5; i++) polite.sink.push('x'.repeat(100));
    expect(filters.changes(polite.id)).toHaveLength(5);
  });
});
