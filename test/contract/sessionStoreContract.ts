import { describe, expect, it } from 'vitest';
import type { RulesStorage, Session } from '../../src/rules/index.ts';

export interface SessionEngine {
  readonly name: string;
  /** Returns an empty data folder or database, which `remove` deletes. */
  newPlace(): { open(): Promise<RulesStorage>; remove(): void };
}

const hashOf = (n: number): string => n.toString(16).padStart(64, '0');
const minute = (n: number): string => new Date(Date.UTC(2026, 10, 27, 0, n)).toISOString();
const session = (n: number, more: Partial<Session> = {}): Session => ({
  hash: hashOf(n),
  isLink: false,
  token: { id: 'a', hash: hashOf(9_999), root: 'a' },
  created_on: minute(n),
  expires_on: minute(n + 720),
  from: '192.0.2.1',
  ...more,
});

/** Tests that every implementation of `SessionStore` must pass. */
export function sessionStoreContract(engine: SessionEngine): void {
  const withStores = async (use: (open: () => Promise<RulesStorage['sessions']>) => Promise<void>) => {
    const place = engine.newPlace();
    const opened: RulesStorage[] = [];
    try {
      await use(async () => {
        const storage = await place.open();
        opened.push(storage);
        return storage.sessions;
      });
    } finally {
      for (const storage of opened) await storage.close();
      place.remove();
    }
  };

  describe(`sessions on ${engine.name}`, () => {
    it('sessions are found by hash through every handle, listed in order of creation, and removed once', () =>
      withStores(async (open) => {
        const [here, there] = [await open(), await open()];
        await here.add(session(2));
        await here.add(session(1));
        expect(await there.find(hashOf(2))).toEqual(session(2));
        expect(await there.find(hashOf(3))).toBeUndefined();
        expect(await there.list()).toEqual([session(1), session(2)]);
        const removed = await Promise.all([here, there, here].map((one) => one.remove(hashOf(2))));
        expect(removed.filter((one) => one !== undefined)).toEqual([session(2)]);
        expect(await here.find(hashOf(2))).toBeUndefined();
        expect(await there.list()).toEqual([session(1)]);
      }));

    it('the key of a session is replaced, and does not bring back a removed session', () =>
      withStores(async (open) => {
        const sessions = await open();
        await sessions.add(session(1));
        await sessions.setKey(hashOf(1), 'sealed');
        expect(await sessions.find(hashOf(1))).toEqual(session(1, { key: 'sealed' }));
        await sessions.setKey(hashOf(1), undefined);
        expect(await sessions.find(hashOf(1))).toEqual(session(1));
        await sessions.remove(hashOf(1));
        await sessions.setKey(hashOf(1), 'sealed');
        expect(await sessions.list()).toEqual([]);
      }));

    it('a new session removes expired ones, and the oldest of its token above 20', () =>
      withStores(async (open) => {
        const sessions = await open();
        await sessions.add(session(1, { expires_on: minute(5) }));
        await sessions.add(session(2, { isLink: true }));
        await sessions.add(session(3, { token: { id: 'b', hash: hashOf(9_998), root: 'a' } }));
        for (let n = 10; n <= 30; n++) await sessions.add(session(n));
        const left = (await sessions.list()).map(({ hash }) => Number.parseInt(hash, 16));
        expect(left).toEqual([2, 3, ...Array.from({ length: 20 }, (_, i) => 11 + i)]);
      }));
  });
}
