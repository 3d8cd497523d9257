import type { IncomingMessage } from 'node:http';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { UnfinishedMessages } from './unfinishedMessages.ts';

const KIB = 1024;
const NO_BYTES = 0;

/** A request with the only member that is read, its client address. */
const from = (client: string): IncomingMessage => ({ socket: { remoteAddress: client } }) as IncomingMessage;

function unfinished(limits: { perClient: number; total: number }, processes = 1) {
  const clock = { nowMs: 0 };
  const evicted: string[] = [];
  const messages = new UnfinishedMessages({
    ...{ processes, limits },
    clientAddress: ({ socket }) => socket.remoteAddress ?? '',
    metrics: new Registry(),
    log: { warn: () => undefined },
    nowMs: () => clock.nowMs,
  });
  const begin = (client: string, bytes = NO_BYTES) =>
    messages.begin(from(client), bytes, () => void evicted.push(client));
  return { clock, evicted, begin };
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
    const { begin } = unfinished({ perClient: 64 * KIB, total: 128 * KIB }, 2);
    expect([begin('a'), begin('a'), begin('a')].map((one) => one !== undefined)).toEqual([true, true, false]);
    expect([begin('b'), begin('b')].every((one) => one !== undefined)).toBe(true);
    expect(begin('c')).toBeUndefined();
  });

  it('are closed if the total limit is reached, slowest first', () => {
    const { clock, evicted, begin } = unfinished({ perClient: 64 * KIB, total: 64 * KIB });
    begin('slow');
    clock.nowMs = 5_000;
    begin('fast', 8 * KIB);
    begin('young');
    clock.nowMs = 6_500;
    begin('new', 8 * KIB);
    expect(evicted).toEqual(['slow']);
    begin('next');
    expect(evicted).toEqual(['slow', 'young']);
  });

  it('are not evicted in their first second; the new message is rejected instead', () => {
    const { clock, evicted, begin } = unfinished({ perClient: 64 * KIB, total: 32 * KIB });
    begin('a');
    begin('b');
    clock.nowMs = 999;
    expect(begin('c')).toBeUndefined();
    expect(evicted).toEqual([]);
    clock.nowMs = 1_000;
    expect(begin('c')).toBeDefined();
    expect(evicted).toHaveLength(1);
  });

  it('are closed if they grow at the total limit and are the slowest', () => {
    const { clock, evicted, begin } = unfinished({ perClient: 64 * KIB, total: 48 * KIB });
    const slow = begin('slow');
    begin('fast', 16 * KIB);
    clock.nowMs = 1_000;
    expect(slow?.received(1)).toBe(false);
    expect(evicted).toEqual(['slow']);
    expect(begin('other')).toBeDefined();
  });
});
