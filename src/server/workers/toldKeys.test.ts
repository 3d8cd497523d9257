import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ApiKey, KeysUnknown, SharedKeys } from '../../ethereum/gateway/index.ts';
import { KeyTeller, ToldKeys } from './toldKeys.ts';

const MINUTE_MS = 60_000;
const key = (id: string, more: Partial<ApiKey> = {}): ApiKey => ({ id, name: id, createdOn: 'now', ...more });

/** Keys of a database that were compared with it just now, until somebody says that was longer ago. */
function database() {
  let known: ReadonlyMap<string, unknown> = new Map();
  return {
    ageMs: 0,
    hadAny: false,
    all: () => known,
    set(now: ReadonlyMap<string, unknown>) {
      known = now;
      this.hadAny ||= now.size > 0;
    },
  };
}

/** Sent as between processes: what arrives is a copy. */
const sent = <T>(message: T): T => structuredClone(message);

it('before it is told of any nobody is let in, and nobody is told that a key is wrong', () => {
  const keys = new SharedKeys(new ToldKeys());
  expect(keys.isEmpty()).toBe(false);
  expect(() => keys.find('a')).toThrow(KeysUnknown);
});

it('a worker that begins has all keys; where there never was one it asks for none', () => {
  const records = database();
  const begin = (): SharedKeys => {
    const told = new ToldKeys();
    told.follow(sent(new KeyTeller(records).changes()));
    return new SharedKeys(told);
  };
  expect(begin().isEmpty()).toBe(true);
  records.set(new Map(Array.from({ length: 10_000 }, (_, i) => [`hash-${i}`, key(`id-${i}`)])));
  expect(begin().isEmpty()).toBe(false);
  expect(begin().list()).toHaveLength(10_000);
  // A database that comes back without them opens no worker that begins then, as it opens no process that knew them.
  records.set(new Map());
  expect(begin().isEmpty()).toBe(false);
  expect(begin().find('hash-1')).toBeUndefined();
});

it('workers know what the database has, whenever each began, and are told of what changed alone', () => {
  const keys = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.record({ id: fc.nat(3) }));
  const steps = fc.array(fc.record({ keys, begins: fc.boolean(), isTold: fc.boolean() }));
  fc.assert(
    fc.property(steps, (taken) => {
      const records = database();
      const workers: { teller: KeyTeller; told: ToldKeys }[] = [];
      const tell = ({ teller, told }: (typeof workers)[number]) => told.follow(sent(teller.changes()));
      for (const { keys: now, begins, isTold } of taken) {
        records.set(new Map(Object.entries(now)));
        if (begins) {
          const worker = { teller: new KeyTeller(records), told: new ToldKeys() };
          tell(worker);
          workers.push(worker);
        }
        if (!isTold) continue;
        workers.forEach(tell);
        for (const { told } of workers) expect(told.all()).toEqual(records.all());
      }
      for (const { teller } of workers) {
        teller.changes();
        records.set(new Map([...records.all()]).set('new', { id: 4 }));
        expect([...teller.changes().changed]).toEqual([['new', { id: 4 }]]);
        expect(teller.changes().changed.size).toBe(0);
      }
    }),
  );
});

it('are believed for five minutes after they were compared with the database, however old the message is', () => {
  let nowMs = 1_000_000;
  const clock = (): number => nowMs;
  const records = database();
  records.set(new Map([['a', key('aaaa0001')]]));
  const teller = new KeyTeller(records, clock);
  const told = new ToldKeys(clock);
  const keys = new SharedKeys(told);
  told.follow(sent(teller.changes()));
  nowMs += 4 * MINUTE_MS;
  expect(keys.find('a')).toEqual(key('aaaa0001'));
  // Nobody says more: the first process hangs.
  nowMs += 2 * MINUTE_MS;
  expect(() => keys.find('a')).toThrow(KeysUnknown);
  // The database is away, as the first process says: a worker that begins now knows how long.
  records.ageMs = 6 * MINUTE_MS;
  told.follow(sent(teller.changes()));
  const begun = new ToldKeys(clock);
  begun.follow(sent(new KeyTeller(records, clock).changes()));
  for (const one of [told, begun]) expect(() => new SharedKeys(one).find('a')).toThrow(KeysUnknown);
  expect(keys.isEmpty()).toBe(false);
  // What was told in time and is read late.
  records.ageMs = 0;
  const late = sent(teller.changes());
  nowMs += 6 * MINUTE_MS;
  told.follow(late);
  expect(() => keys.find('a')).toThrow(KeysUnknown);
  told.follow(sent(teller.changes()));
  expect(keys.find('a')).toEqual(key('aaaa0001'));
});

it('the clock is that of the machine', () => {
  const told = new ToldKeys();
  told.follow(new KeyTeller({ ...database(), ageMs: 3 * MINUTE_MS }).changes());
  expect(told.ageMs).toBeGreaterThanOrEqual(3 * MINUTE_MS - 1);
  expect(told.ageMs).toBeLessThan(4 * MINUTE_MS);
});

it('a worker changes none', async () => {
  const told = new ToldKeys();
  told.follow(sent(new KeyTeller(database()).changes()));
  await expect(new SharedKeys(told).add('a', key('aaaa0001'))).rejects.toThrow('by the first process');
});
