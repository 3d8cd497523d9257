import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Account, UnsentBytes } from './unsentBytes.ts';

const LIMITS = { maxBytes: 1_000_000, maxBytesPerClient: 500_000 };
const SHARED = Array.from({ length: 3 }, (_, i) => new Uint8Array(100_000 * (i + 1)));
const CLIENTS = ['a', 'b', 'c'];

const bytes = fc.integer({ min: 1, max: 300_000 });
const step = fc.oneof(
  fc.record({ do: fc.constant('open' as const), client: fc.constantFrom(...CLIENTS) }),
  fc.record({ do: fc.constantFrom('charge' as const, 'credit' as const), account: fc.nat(), bytes }),
  fc.record({ do: fc.constant('hold' as const), account: fc.nat(), part: fc.constantFrom(...SHARED) }),
  fc.record({ do: fc.constantFrom('close' as const, 'empty' as const), account: fc.nat() }),
);

describe('unsent bytes', () => {
  it('are those of a plain count, stay within both bounds, and are none once every answer is over', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const unsent = new UnsentBytes(LIMITS);
        const plain = new Map<Account, { charged: number; held: Set<Uint8Array> }>();
        const pick = (i: number): [Account, { charged: number; held: Set<Uint8Array> }] | undefined =>
          [...plain][i % Math.max(1, plain.size)];
        for (const one of steps) {
          if (one.do === 'open') {
            plain.set(unsent.open(one.client), { charged: 0, held: new Set() });
            continue;
          }
          const [account, count] = pick(one.account) ?? [];
          if (account === undefined || count === undefined) continue;
          const before = unsent.bytes;
          if (one.do === 'charge' && account.charge(one.bytes)) count.charged += one.bytes;
          if (one.do === 'credit') {
            const given = Math.min(one.bytes, count.charged);
            account.credit(given);
            count.charged -= given;
          }
          if (one.do === 'hold' && account.hold(one.part)) count.held.add(one.part);
          if (one.do === 'empty') {
            account.empty();
            plain.set(account, { charged: 0, held: new Set() });
          }
          if (one.do === 'close') {
            account.close();
            plain.delete(account);
          }
          const all = [...plain.values()];
          const held = new Set(all.flatMap((each) => [...each.held]));
          const sum = (parts: Iterable<Uint8Array>): number =>
            [...parts].reduce((total, { length }) => total + length, 0);
          expect(unsent.bytes).toBe(sum(held) + all.reduce((total, { charged }) => total + charged, 0));
          const holding = [...plain.keys()].filter((each) => each.bytes > 0);
          if (unsent.bytes > before && holding.length > 1)
            expect(unsent.bytes).toBeLessThanOrEqual(LIMITS.maxBytes);
          const ofClient = holding.filter(({ client }) => client === account.client);
          if (unsent.bytes > before && ofClient.length > 1)
            expect(account.client.bytes).toBeLessThanOrEqual(LIMITS.maxBytesPerClient);
        }
        for (const account of plain.keys()) account.close();
        expect({ bytes: unsent.bytes, clients: unsent.clients }).toEqual({ bytes: 0, clients: 0 });
      }),
    );
  });

  it('of one answer alone may be more than the bound, and nobody else gets room beside it', () => {
    const unsent = new UnsentBytes(LIMITS);
    const alone = unsent.open('a');
    expect(alone.charge(5_000_000)).toBe(true);
    expect(unsent.open('b').charge(1)).toBe(false);
    expect(unsent.open('a').charge(1)).toBe(false);
    expect(unsent.refuses('a')).toBe(true);
    expect(unsent.refuses('b')).toBe(false);
  });

  it('of one client have their bound, and leave room for others', () => {
    const unsent = new UnsentBytes(LIMITS);
    const charged = Array.from({ length: 10 }, () => unsent.open('a').charge(100_000));
    expect(charged.filter(Boolean)).toHaveLength(5);
    expect(unsent.open('b').charge(400_000)).toBe(true);
  });

  it('that many wait for count once for the server, and for each of them', () => {
    const unsent = new UnsentBytes(LIMITS);
    const part = new Uint8Array(400_000);
    const readers = Array.from({ length: 100 }, (_, i) => unsent.open(`client ${i}`));
    expect(readers.every((reader) => reader.hold(part))).toBe(true);
    expect(unsent.bytes).toBe(400_000);
    const [first, ...rest] = readers;
    expect(first?.bytes).toBe(400_000);
    for (const reader of rest) reader.close();
    expect(unsent.bytes).toBe(400_000);
    first?.close();
    expect(unsent.bytes).toBe(0);
  });

  it('are taken from others before an answer is refused: of the same client first, then of any', () => {
    const asked: Array<[number, string | undefined]> = [];
    const open = new Map<string, Account>();
    const unsent = new UnsentBytes(LIMITS, (wanted, client) => {
      asked.push([wanted, client?.key]);
      open.get(client?.key ?? 'a')?.close();
    });
    for (const client of ['a', 'b']) {
      const account = unsent.open(client);
      account.charge(450_000);
      open.set(client, account);
    }
    expect(unsent.open('b').charge(100_000)).toBe(true);
    expect(unsent.open('c').charge(480_000)).toBe(true);
    expect(asked).toEqual([
      [100_000, 'b'],
      [480_000, undefined],
    ]);
  });

  it('of an answer that is over take no room any more', () => {
    const unsent = new UnsentBytes(LIMITS);
    const account = unsent.open('a');
    account.close();
    account.close();
    expect([account.charge(1), account.hold(new Uint8Array(100_000))]).toEqual([false, false]);
    account.owe(5);
    account.credit(5);
    expect(unsent.bytes).toBe(0);
  });
});
