import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { LiveUpdates } from './liveUpdates.ts';
import { type Position, readPosition, writePosition } from './position.ts';

const opened: LiveUpdates[] = [];
afterEach(() => {
  for (const updates of opened.splice(0)) updates.end();
});

/** Tells which positions were asked for; a message is the number of the one before it. */
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
      ...{ account: 'a', tokenId: 'token', isAudited: true, since: undefined, isAllowed: async () => true },
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
  it('tell everyone each change once, in order, with one look for all who are at the same place', async () => {
    const { asked, listen } = live({ intervalMs: 20 });
    const taken = [read(listen()), read(listen()), read(listen({ since: { change: 7, atMs: 0 } }))];
    await until('all are told', () => taken.every(({ text }) => text.split(';').length > 4));
    expect(taken[0]?.text).toMatch(/^0;1;2;3;/);
    expect(taken[2]?.text).toMatch(/^7;8;9;/);
    expect(asked.filter((change) => change === 3)).toHaveLength(1);
  });

  it('look once for all who have come at different times, from the second on', async () => {
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
          ...{
            account: 'a',
            tokenId: 'token',
            isAudited: true,
            since: undefined,
            isAllowed: async () => true,
          },
        }),
      );
    for (let i = 0; i < 5; i++) {
      listen();
      const before = asked.length;
      await until('it is told', () => asked.length > before);
    }
    // All were told together once.
    const together = asked.length;
    await until('all were told together', () => asked.length > together + 10);
    const later = asked.slice(together + 10).map((one) => one.split(' ')[1]);
    const before = asked.length;
    await until('they go on', () => asked.length > before + 10);
    const times = [...later, ...asked.slice(before).map((one) => one.split(' ')[1])];
    expect(new Set(times).size).toBe(times.length);
  });

  it('are one a time for who comes in the second after the last has gone', async () => {
    const { updates, asked, listen } = live({ intervalMs: 50 });
    for (let i = 0; i < 10; i++) {
      const stream = listen();
      read(stream);
      await until('it is told', () => asked.length > i);
      stream.destroy();
      await until('it is gone', () => updates.listeners === 0);
    }
    const last = read(listen());
    const before = asked.length;
    for (let turn = 0; turn < 5; turn++) await pause(50);
    expect(asked.length - before).toBeLessThan(12);
    expect(last.isEnded).toBe(false);
  });

  it('do nothing while nobody listens', async () => {
    const { updates, asked, listen } = live();
    const stream = listen();
    read(stream);
    await until('it is told', () => asked.length > 3);
    stream.destroy();
    await until('it is gone', () => updates.listeners === 0);
    const before = asked.length;
    const later = listen({ since: { change: 100, atMs: 0 } });
    read(later);
    await until('another is told', () => asked.includes(103));
    expect(asked.slice(before + 1).every((change) => change !== undefined && change >= 100)).toBe(true);
  });

  it('hold one message for who does not read, and then tell what was missed', async () => {
    const { asked, listen } = live({ bytes: 100_000 });
    const slow = listen();
    const fast = read(listen({ since: { change: 1_000, atMs: 0 } }));
    await until('others are told much', () => fast.text.split(';').length > 50);
    expect(asked.filter((change) => change === undefined || change < 1_000)).toHaveLength(1);
    expect(slow.readableLength).toBeLessThan(200_000);
    const taken = read(slow);
    await until('it goes on', () => taken.text.startsWith('0;1;2;'));
  });

  it('end where the token is revoked, and where nothing can be told', async () => {
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
    await until('the one that fails is ended', () => failing.isEnded);
    expect(failures).toEqual([new Error('no store')]);
    expect(taken.isEnded).toBe(false);
    isAllowed = false;
    await until('it is ended', () => taken.isEnded);
    await until('both are gone', () => updates.listeners === 0);
  });

  it('are for a bounded number, of a token, of an account, and in all', () => {
    const { updates, listen } = live();
    for (let i = 0; i < 8; i++) listen();
    expect(() => listen()).toThrow('Only 8 may listen with one token');
    for (let i = 0; i < 24; i++) listen({ tokenId: `token ${i % 3}` });
    expect(() => listen({ tokenId: 'another' })).toThrow('Only 32 may listen to one account now');
    expect(updates.listeners).toBe(32);
  });

  it('leave to others as many places as an account has, whoever came before', () => {
    const { updates, listen } = live();
    /** As many as are let in, with no token over its own bound. */
    const fill = (account: string): number => {
      const before = updates.listeners;
      try {
        for (let i = 0; ; i++) listen({ account, tokenId: `${account} ${i % 8}` });
      } catch (error) {
        const number = updates.listeners - before;
        const all = updates.listeners === 64;
        expect(String(error)).toContain(
          all ? 'Only 64 may listen at once' : `Only ${number} may listen to one account now`,
        );
        return number;
      }
    };
    expect(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(fill)).toEqual([32, 16, 8, 4, 2, 1, 1, 0]);
  });

  it('let an account have as many again when others have gone', async () => {
    const { updates, listen } = live();
    const others = Array.from({ length: 32 }, (_, i) => listen({ account: 'a', tokenId: `a ${i % 4}` }));
    for (let i = 0; i < 16; i++) listen({ account: 'b', tokenId: `b ${i % 4}` });
    const next = () => listen({ account: 'b', tokenId: 'another of b' });
    expect(next).toThrow('Only 16 may listen to one account now');
    for (const other of others.slice(16)) other.destroy();
    await until('they are gone', () => updates.listeners === 32);
    next();
    expect(updates.listeners).toBe(33);
  });
});

describe('the id of a message', () => {
  const position = fc.record({
    change: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    atMs: fc.nat({ max: 4_102_444_800_000 }),
  });

  it('is read as it was written', () => {
    fc.assert(
      fc.property(position, (one: Position) => {
        expect(readPosition(writePosition(one))).toEqual(one);
      }),
    );
  });

  it('is refused where it is none of ours', () => {
    for (const text of ['', '-', '1', '1-', 'A-1', '1-1-1', '1 -1', `${'z'.repeat(12)}-1`, 'zzzzzzzzzzz-1'])
      expect(readPosition(text)).toBeUndefined();
  });
});
