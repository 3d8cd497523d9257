import type { IncomingMessage } from 'node:http';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { BudgetLimits } from '../../budgets/index.ts';
import { UnfinishedMessages } from './unfinishedMessages.ts';

const KIB = 1024;
const NO_BYTES = 0;

/** A request with the only member that is read, its client address. */
const from = (client: string): IncomingMessage => ({ socket: { remoteAddress: client } }) as IncomingMessage;

function unfinished(limits: BudgetLimits, processes = 1) {
  const evicted: string[] = [];
  const messages = new UnfinishedMessages({
    processes,
    limits,
    clientAddress: ({ socket }) => socket.remoteAddress ?? '',
    metrics: new Registry(),
    log: { warn: () => undefined },
  });
  const begin = (client: string, bytes = NO_BYTES) =>
    messages.begin(from(client), bytes, () => void evicted.push(client));
  return { evicted, begin };
}

describe('unfinished messages', () => {
  it('of one client count 16 KiB each plus their bytes against its limit', () => {
    const { begin } = unfinished({ perClient: 64 * KIB, total: 1024 * KIB });
    const first = begin('a', 16 * KIB);
    expect(begin('a')?.received(16 * KIB)).toBe(true);
    expect(begin('a')).toBeUndefined();
    expect(begin('b')).toBeDefined();
    first?.end();
    first?.end();
    expect(begin('a')).toBeDefined();
    expect(begin('a')).toBeDefined();
    expect(begin('a')).toBeUndefined();
  });

  it('of IPv6 clients are counted by their /64', () => {
    const { begin } = unfinished({ perClient: 32 * KIB, total: 1024 * KIB });
    expect(begin('2001:db8::1')).toBeDefined();
    expect(begin('2001:db8::2')).toBeDefined();
    expect(begin('2001:db8::3')).toBeUndefined();
    expect(begin('2001:db8:0:1::3')).toBeDefined();
  });

  it('that are rejected and dropped count only their connection until they end', () => {
    const { begin } = unfinished({ perClient: 64 * KIB, total: 1024 * KIB });
    const [one, other] = [begin('a', 8 * KIB), begin('a')];
    expect(one?.received(40 * KIB)).toBe(false);
    expect(other?.received(32 * KIB)).toBe(false);
    one?.drop();
    expect(other?.received(32 * KIB)).toBe(true);
    expect(other?.received(16 * KIB)).toBe(false);
    one?.end();
    one?.drop();
    expect(other?.received(16 * KIB)).toBe(true);
  });

  it('may have any size if its client has no other', () => {
    const { begin } = unfinished({ perClient: 32 * KIB, total: 64 * KIB });
    const alone = begin('a');
    expect(alone?.received(1024 * KIB)).toBe(true);
    expect(begin('a')).toBeUndefined();
    alone?.end();
    expect(begin('a')).toBeDefined();
  });

  it('share the limits among processes', () => {
    const { evicted, begin } = unfinished({ perClient: 64 * KIB, total: 128 * KIB }, 2);
    expect([begin('a'), begin('a'), begin('a')].map((one) => one !== undefined)).toEqual([true, true, false]);
    expect([begin('b'), begin('b')].every((one) => one !== undefined)).toBe(true);
    expect(evicted).toEqual([]);
    expect(begin('c')).toBeDefined();
    expect(evicted).toEqual(['a']);
  });

  it('of the client that uses most are closed first if the total is reached, oldest first', () => {
    const { evicted, begin } = unfinished({ perClient: 80 * KIB, total: 80 * KIB });
    begin('small');
    const [large, other] = [begin('large', 16 * KIB), begin('large')];
    begin('small');
    begin('new');
    expect(evicted).toEqual(['large']);
    expect(large?.received(1)).toBe(false);
    expect(other?.received(1)).toBe(true);
  });

  it('are closed if they grow at the total limit and their client uses most', () => {
    const { evicted, begin } = unfinished({ perClient: 64 * KIB, total: 64 * KIB });
    const large = begin('large', 16 * KIB);
    begin('small', 8 * KIB);
    expect(large?.received(16 * KIB)).toBe(false);
    expect(evicted).toEqual(['large']);
    expect(begin('other')).toBeDefined();
  });

  it('have a share that shrinks as the total fills, down to a minimum', () => {
    const { begin } = unfinished({
      perClient: 1024 * KIB,
      total: 256 * KIB,
      partOfFree: 1 / 2,
      minShare: 32 * KIB,
    });
    const countOf = (client: string): number => {
      let count = 0;
      while (begin(client) !== undefined) count++;
      return count;
    };
    expect(['a', 'b', 'c', 'd'].map(countOf)).toEqual([5, 4, 2, 2]);
  });
});
