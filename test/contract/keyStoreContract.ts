import { describe, expect, it } from 'vitest';
import type { ApiKey, KeyStore } from '../../src/ethereum/gateway/index.ts';
import { until } from '../support/until.ts';

export interface KeysUnderTest {
  readonly keys: KeyStore;
  close(): Promise<void>;
}

export interface KeyEngine {
  readonly name: string;
  /** Returns an empty data folder or database, which `remove` deletes. */
  newPlace(): { open(): Promise<KeysUnderTest>; remove(): void };
}

const HASH = 'ab'.repeat(32);
const OTHER_HASH = 'cd'.repeat(32);
const revocation = { revokedOn: '2026-11-22T00:00:00.000Z', revokedBy: 'cli:tester' };
const key = (id: string, createdOn: string): ApiKey => ({
  id,
  name: `key "${id}" é`,
  createdOn,
  createdBy: 'cli:tester',
  ratePerSecond: 5,
  methods: ['eth_call'],
});
const older = key('aaaa0001', '2026-11-20T00:00:00.000Z');
const newer = key('aaaa0002', '2026-11-21T00:00:00.000Z');

/** Tests that every implementation of `KeyStore` must pass. */
export function keyStoreContract(engine: KeyEngine): void {
  const withKeys = async (use: (open: () => Promise<KeysUnderTest>) => Promise<void>) => {
    const place = engine.newPlace();
    const opened: KeysUnderTest[] = [];
    try {
      await use(async () => {
        const keys = await place.open();
        opened.push(keys);
        return keys;
      });
    } finally {
      for (const { close } of opened) await close();
      place.remove();
    }
  };

  describe(`API keys on ${engine.name}`, () => {
    it('keys are found by hash, listed in order, and kept after a restart', () =>
      withKeys(async (open) => {
        const first = await open();
        expect([first.keys.isEmpty(), first.keys.list(), first.keys.find(HASH)]).toEqual([
          true,
          [],
          undefined,
        ]);
        await first.keys.add(HASH, newer);
        await first.keys.add(OTHER_HASH, older);
        for (const { keys } of [first, await open()]) {
          expect(keys.isEmpty()).toBe(false);
          expect(keys.list()).toEqual([older, newer]);
          expect(keys.find(HASH)).toEqual(newer);
          expect(keys.find('00'.repeat(32))).toBeUndefined();
          expect(keys.entries()).toHaveLength(2);
          expect(keys.entries()).toContainEqual({ secretHash: OTHER_HASH, key: older });
        }
      }));

    it('a revocation by id is permanent and records the actor', () =>
      withKeys(async (open) => {
        const { keys } = await open();
        await keys.add(HASH, older);
        expect(await keys.revoke('nowhere0', revocation)).toBeUndefined();
        expect(await keys.revoke(older.id, revocation)).toEqual({ ...older, ...revocation });
        const again = await keys.revoke(older.id, { revokedOn: 'later', revokedBy: 'another' });
        expect(again).toEqual({ ...older, ...revocation });
        expect(keys.find(HASH)).toEqual({ ...older, ...revocation });
        expect(keys.isEmpty()).toBe(false);
      }));

    it('a change through another handle becomes visible soon', () =>
      withKeys(async (open) => {
        const [here, there] = [await open(), await open()];
        await here.keys.add(HASH, older);
        expect(
          await until('the key to be visible through the other handle', () => there.keys.find(HASH)),
        ).toEqual(older);
        // A revocation also finds a key that is not loaded yet.
        await here.keys.add(OTHER_HASH, newer);
        expect(await there.keys.revoke(newer.id, revocation)).toMatchObject(revocation);
        await until(
          'the revocation to be visible through the other handle',
          () => here.keys.find(OTHER_HASH)?.revokedOn !== undefined,
        );
      }));
  });
}
