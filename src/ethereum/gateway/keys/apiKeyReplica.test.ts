import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiKeyPublisher, ApiKeyReplica } from './apiKeyReplica.ts';
import { type ApiKey, KeysUnavailableError } from './keyStore.ts';
import { SharedKeys } from './sharedKeys.ts';

const MINUTE_MS = 60_000;
const key = (id: string, more: Partial<ApiKey> = {}): ApiKey => ({ id, name: id, createdOn: 'now', ...more });

/** Fake key records that were compared with the database `ageMs` ago. */
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

/** Clones a message, as sending it between processes does. */
const sent = <T>(message: T): T => structuredClone(message);

it('a worker that has not received keys yet rejects all clients, without declaring their keys invalid', () => {
  const keys = new SharedKeys(new ApiKeyReplica());
  expect(() => keys.isEmpty()).toThrow(KeysUnavailableError);
  expect(() => keys.find('a')).toThrow(KeysUnavailableError);
});

it('a new worker receives all keys, and requires none if no key ever existed', () => {
  const records = database();
  const begin = (): SharedKeys => {
    const reported = new ApiKeyReplica();
    reported.apply(sent(new ApiKeyPublisher(records).changes()));
    return new SharedKeys(reported);
  };
  expect(begin().isEmpty()).toBe(true);
  records.set(new Map(Array.from({ length: 10_000 }, (_, i) => [`hash-${i}`, key(`id-${i}`)])));
  expect(begin().isEmpty()).toBe(false);
  expect(begin().list()).toHaveLength(10_000);
  // If the database loses all keys, new workers must stay closed, as the first process does.
  records.set(new Map());
  expect(begin().isEmpty()).toBe(false);
  expect(begin().find('hash-1')).toBeUndefined();
});

it('workers have the keys of the database, whenever they started, and receive only changes', () => {
  const keys = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.record({ id: fc.nat(3) }));
  const steps = fc.array(fc.record({ keys, begins: fc.boolean(), isReported: fc.boolean() }));
  fc.assert(
    fc.property(steps, (taken) => {
      const records = database();
      const workers: { publisher: ApiKeyPublisher; reported: ApiKeyReplica }[] = [];
      const tell = ({ publisher, reported }: (typeof workers)[number]) =>
        reported.apply(sent(publisher.changes()));
      for (const { keys: now, begins, isReported } of taken) {
        records.set(new Map(Object.entries(now)));
        if (begins) {
          const worker = { publisher: new ApiKeyPublisher(records), reported: new ApiKeyReplica() };
          tell(worker);
          workers.push(worker);
        }
        if (!isReported) continue;
        workers.forEach(tell);
        for (const { reported } of workers) expect(reported.all()).toEqual(records.all());
      }
      for (const { publisher } of workers) {
        publisher.changes();
        records.set(new Map([...records.all()]).set('new', { id: 4 }));
        expect([...publisher.changes().changed]).toEqual([['new', { id: 4 }]]);
        expect(publisher.changes().changed.size).toBe(0);
      }
    }),
  );
});

it('keys are valid for the grace time after they were compared with the database, whatever the age of the message', () => {
  let nowMs = 1_000_000;
  const clock = (): number => nowMs;
  const records = database();
  records.set(new Map([['a', key('aaaa0001')]]));
  const publisher = new ApiKeyPublisher(records, clock);
  const reported = new ApiKeyReplica(clock);
  const keys = new SharedKeys(reported, 5 * MINUTE_MS);
  reported.apply(sent(publisher.changes()));
  nowMs += 4 * MINUTE_MS;
  expect(keys.find('a')).toEqual(key('aaaa0001'));
  // The first process hangs and sends nothing.
  nowMs += 2 * MINUTE_MS;
  expect(() => keys.find('a')).toThrow(KeysUnavailableError);
  // The database is unavailable, as the first process reports. A worker that starts now receives the age of the keys.
  records.ageMs = 6 * MINUTE_MS;
  reported.apply(sent(publisher.changes()));
  const begun = new ApiKeyReplica(clock);
  begun.apply(sent(new ApiKeyPublisher(records, clock).changes()));
  for (const one of [reported, begun])
    expect(() => new SharedKeys(one, 5 * MINUTE_MS).find('a')).toThrow(KeysUnavailableError);
  expect(keys.isEmpty()).toBe(false);
  // Message that was sent in time but is read late.
  records.ageMs = 0;
  const late = sent(publisher.changes());
  nowMs += 6 * MINUTE_MS;
  reported.apply(late);
  expect(() => keys.find('a')).toThrow(KeysUnavailableError);
  reported.apply(sent(publisher.changes()));
  expect(keys.find('a')).toEqual(key('aaaa0001'));
});

it('the age of keys is measured with the clock of the machine', () => {
  const reported = new ApiKeyReplica();
  reported.apply(new ApiKeyPublisher({ ...database(), ageMs: 3 * MINUTE_MS }).changes());
  expect(reported.ageMs).toBeGreaterThanOrEqual(3 * MINUTE_MS - 1);
  expect(reported.ageMs).toBeLessThan(4 * MINUTE_MS);
});

it('a worker cannot change keys', async () => {
  const reported = new ApiKeyReplica();
  reported.apply(sent(new ApiKeyPublisher(database()).changes()));
  await expect(new SharedKeys(reported).add('a', key('aaaa0001'))).rejects.toThrow(
    'only the first process changes API keys',
  );
});
