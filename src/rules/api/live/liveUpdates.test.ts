import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { LiveUpdates } from './liveUpdates.ts';
import { formatPosition, type Position, parsePosition } from './position.ts';

const opened: LiveUpdates[] = [];
afterEach(() => {
  for (const updates of opened.splice(0)) updates.end();
});

/** Records the requested positions; the text of a message is the number of its predecessor. */
function live({ intervalMs = 1, bytes = 0 } = {}) {
  const asked: Array<number | undefined> = [];
  const failures: unknown[] = [];
  const updates = new LiveUpdates(
    { intervalMs },
    {
      source: {
        message: async ({ since }) => {
          asked.push(since?.change);
          const next = { change: (since?.change ?? 0) + 1, atMs: 0 };
          return { text: `${since?.change ?? 0};${' '.repeat(bytes)}`, next };
        },
      },
      failed: (error) => failures.push(error),
    },
  );
  opened.push(updates);
  const listen = (more: Partial<Parameters<LiveUpdates['listen']>[0]> = {}): Readable =>
    updates.listen({
      account: 'a',
      tokenId: 'token',
      rootId: 'token',
      isAudited: true,
      since: undefined,
      isAllowed: async () => true,
      ...(more.tokenId !== undefined && { rootId: more.tokenId }),
      ...more,
    });
  return { updates, asked, failures, listen };
}

function read(stream: Readable): { text: string; isEnded: boolean } {
  const taken = { text: '', isEnded: false };
  stream.on('data', (chunk: Buffer) => {
    taken.text += chunk.toString().replaceAll(' ', '');
  });
  stream.on('end', () => {
    taken.isEnded = true;
  });
  return taken;
}

describe('live updates', () => {
  it('send each change once and in order, with one query for all listeners at the same position', async () => {
    const { asked, listen } = live({ intervalMs: 20 });
    const taken = [read(listen()), read(listen()), read(listen({ since: { change: 7, atMs: 0 } }))];
    await until('all listeners have messages', () => taken.every(({ text }) => text.split(';').length > 4));
    expect(taken[0]?.text).toMatch(/^0;1;2;3;/);
    expect(taken[2]?.text).toMatch(/^7;8;9;/);
    expect(asked.filter((change) => change === 3)).toHaveLength(1);
  });

  it('query once for listeners that joined at different times, from their second message on', async () => {
    const asked: string[] = [];
    const updates = new LiveUpdates(
      { intervalMs: 20 },
      {
        source: {
          message: async ({ since, nowMs }) => {
            asked.push(`${since?.atMs} ${nowMs}`);
            return { text: 'x', next: { change: 0, atMs: nowMs } };
          },
        },
        failed: () => undefined,
      },
    );
    opened.push(updates);
    const listen = (): void =>
      void read(
        updates.listen({
          account: 'a',
          tokenId: 'token',
          rootId: 'token',
          isAudited: true,
          since: undefined,
          isAllowed: async () => true,
        }),
      );
    for (let i = 0; i < 5; i++) {
      listen();
      const before = asked.length;
      await until('a message is sent', () => asked.length > before);
    }
    // All listeners have received a common message.
    const together = asked.length;
    await until('all listeners share messages', () => asked.length > together + 10);
    const later = asked.slice(together + 10).map((one) => one.split(' ')[1]);
    const before = asked.length;
    await until('messages continue', () => asked.length > before + 10);
    const times = [...later, ...asked.slice(before).map((one) => one.split(' ')[1])];
    expect(new Set(times).size).toBe(times.length);
  });

  it('send one message per interval to a listener that joins just after the last one left', async () => {
    const { updates, asked, listen } = live({ intervalMs: 50 });
    for (let i = 0; i < 10; i++) {
      const stream = listen();
      read(stream);
      await until('a message is sent', () => asked.length > i);
      stream.destroy();
      await until('the listener is removed', () => updates.listeners === 0);
    }
    const last = read(listen());
    const before = asked.length;
    for (let turn = 0; turn < 5; turn++) await pause(50);
    expect(asked.length - before).toBeLessThan(12);
    expect(last.isEnded).toBe(false);
  });

  it('are idle without listeners', async () => {
    const { updates, asked, listen } = live();
    const stream = listen();
    read(stream);
    await until('a message is sent', () => asked.length > 3);
    stream.destroy();
    await until('the listener is removed', () => updates.listeners === 0);
    const before = asked.length;
    const later = listen({ since: { change: 100, atMs: 0 } });
    read(later);
    await until('the new listener has messages', () => asked.includes(103));
    expect(asked.slice(before + 1).every((change) => change !== undefined && change >= 100)).toBe(true);
  });

  it('buffer one message for a slow reader, and then send the missed changes', async () => {
    const { asked, listen } = live({ bytes: 100_000 });
    const slow = listen();
    const fast = read(listen({ since: { change: 1_000, atMs: 0 } }));
    await until('the fast listener has many messages', () => fast.text.split(';').length > 50);
    expect(asked.filter((change) => change === undefined || change < 1_000)).toHaveLength(1);
    expect(slow.readableLength).toBeLessThan(200_000);
    const taken = read(slow);
    await until('the slow listener continues', () => taken.text.startsWith('0;1;2;'));
  });

  it('end when the token is revoked, and when no message can be produced', async () => {
    let isAllowed = true;
    const { updates, failures, listen } = live();
    const taken = read(listen({ isAllowed: async () => isAllowed }));
    const failing = read(
      listen({
        isAllowed: async () => {
          throw new Error('no store');
        },
      }),
    );
    await until('the failing stream ends', () => failing.isEnded);
    expect(failures).toEqual([new Error('no store')]);
    expect(taken.isEnded).toBe(false);
    isAllowed = false;
    await until('the stream ends', () => taken.isEnded);
    await until('both listeners are removed', () => updates.listeners === 0);
  });

  it('close the stream of a revoked token even if its client does not read', async () => {
    let isAllowed = true;
    const { updates, asked, listen } = live({ bytes: 100_000 });
    const stuck = listen({ isAllowed: async () => isAllowed });
    await until('a message is buffered', () => asked.length > 0 && stuck.readableLength > 0);
    isAllowed = false;
    await until('the stream is closed', () => stuck.destroyed && updates.listeners === 0);
  });

  it('have limits per token, per account and in total', () => {
    const { updates, listen } = live();
    for (let i = 0; i < 8; i++) listen();
    expect(() => listen()).toThrow('Limit of live streams reached: 8 per token');
    for (let i = 0; i < 24; i++) listen({ tokenId: `token ${i % 3}` });
    expect(() => listen({ tokenId: 'another' })).toThrow(
      'Limit of live streams reached: 32 per account at present',
    );
    expect(updates.listeners).toBe(32);
  });

  it('leave at least as many slots to other accounts as an account uses', () => {
    const { updates, listen } = live();
    /** Opens listeners until one is rejected, without exceeding the limit of any token. Returns their number. */
    const fill = (account: string): number => {
      const before = updates.listeners;
      try {
        for (let i = 0; ; i++) listen({ account, tokenId: `${account} ${i % 8}` });
      } catch (error) {
        const number = updates.listeners - before;
        const all = updates.listeners === 64;
        expect(String(error)).toContain(
          all ? 'reached: 64 in total' : `reached: ${number} per account at present`,
        );
        return number;
      }
    };
    expect(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(fill)).toEqual([32, 16, 8, 4, 2, 1, 1, 0]);
  });

  it('raise the limit of an account when listeners of other accounts leave', async () => {
    const { updates, listen } = live();
    const others = Array.from({ length: 32 }, (_, i) => listen({ account: 'a', tokenId: `a ${i % 4}` }));
    for (let i = 0; i < 16; i++) listen({ account: 'b', tokenId: `b ${i % 4}` });
    const next = () => listen({ account: 'b', tokenId: 'another of b' });
    expect(next).toThrow('Limit of live streams reached: 16 per account at present');
    for (const other of others.slice(16)) other.destroy();
    await until('the listeners are removed', () => updates.listeners === 32);
    next();
    expect(updates.listeners).toBe(33);
  });

  it('leave at least as many slots to other tokens as a tree of tokens uses, in all its accounts', () => {
    const { updates, listen } = live();
    const open = (i: number) => listen({ account: `${i % 8}`, tokenId: `child ${i % 8}`, rootId: 'root' });
    for (let i = 0; i < 32; i++) open(i);
    expect(() => open(32)).toThrow('Limit of live streams reached: 32 per tree of tokens at present');
    listen({ account: '1', tokenId: 'another' });
    expect(updates.listeners).toBe(33);
  });

  it('end at once for a token that is no longer valid, even while a message cannot be created', async () => {
    let isAllowed = true;
    const updates = new LiveUpdates(
      { intervalMs: 1 },
      { source: { message: () => new Promise(() => undefined) }, failed: () => undefined },
    );
    opened.push(updates);
    const taken = read(
      updates.listen({
        account: 'a',
        tokenId: 'token',
        rootId: 'token',
        isAudited: true,
        since: undefined,
        isAllowed: async () => isAllowed,
      }),
    );
    isAllowed = false;
    await until('the end of the stream', () => taken.isEnded);
    expect(updates.listeners).toBe(0);
  });
});

describe('an event id', () => {
  const position = fc.record({
    change: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    atMs: fc.nat({ max: 4_102_444_800_000 }),
  });

  it('is parsed to the position that it was formatted from', () => {
    fc.assert(
      fc.property(position, (one: Position) => {
        expect(parsePosition(formatPosition(one))).toEqual(one);
      }),
    );
  });

  it('is rejected if its syntax is invalid', () => {
    for (const text of ['', '-', '1', '1-', 'A-1', '1-1-1', '1 -1', `${'z'.repeat(12)}-1`, 'zzzzzzzzzzz-1'])
      expect(parsePosition(text)).toBeUndefined();
  });
});
