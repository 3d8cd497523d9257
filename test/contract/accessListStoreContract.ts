import { describe, expect, it } from 'vitest';
import {
  type AccessListStore,
  type Actor,
  type AuditEntry,
  type AuditLog,
  MAX_ENTRIES_PER_LIST,
  TooManyEntries,
} from '../../src/rules/index.ts';
import { settleInBatches } from '../support/batches.ts';
import { until } from '../support/until.ts';

/** The stores of an engine in one data folder or database; a second handle can be opened at the same time. */
export interface ListsUnderTest {
  readonly lists: AccessListStore;
  readonly audit: AuditLog;
  close(): Promise<void>;
}

export interface ListEngine {
  readonly name: string;
  /** Returns an empty data folder or database, which `remove` deletes. */
  newPlace(): { open(): Promise<ListsUnderTest>; remove(): void };
}

const actor: Actor = { by: 'token-1', from: '192.0.2.1' };
const allowed = { accountId: 'a', list: 'allowlist' } as const;
const denied = { accountId: 'a', list: 'denylist' } as const;
const network = { prefix: '192.0.2.0/24', comment: 'a partner', enabled: true };
const name = { name: 'example.test', comment: '', enabled: false };

/** Tests that every implementation of `AccessListStore` must pass. */
export function accessListStoreContract(engine: ListEngine): void {
  const withStores = async (use: (stores: ListsUnderTest) => Promise<void>) => {
    const place = engine.newPlace();
    const stores = await place.open();
    try {
      await use(stores);
    } finally {
      await stores.close();
      place.remove();
    }
  };
  async function audited(audit: AuditLog): Promise<AuditEntry[]> {
    const entries: AuditEntry[] = [];
    for await (const entry of audit.read({ account: 'a' })) entries.push(entry);
    return entries;
  }

  describe(`access lists on ${engine.name}`, () => {
    it('entries are returned in order, only for their list and account', () =>
      withStores(async ({ lists }) => {
        const { item: one } = await lists.create(allowed, network, { actor });
        const { item: two } = await lists.create(allowed, name, { actor });
        const { item: other } = await lists.create(denied, name, { actor });
        expect(one).toMatchObject(network);
        expect(await lists.list(allowed)).toEqual([one, two]);
        expect(await lists.list(denied)).toEqual([other]);
        expect(await lists.get(allowed, two.id)).toEqual(two);
        expect(await lists.get(denied, two.id)).toBeUndefined();
        expect(await lists.get({ ...allowed, accountId: 'b' }, two.id)).toBeUndefined();
        expect(await lists.list({ ...allowed, accountId: 'b' })).toEqual([]);
      }));

    it('an update applies the decided changes, and changes nothing if the decision is empty or throws', () =>
      withStores(async ({ lists }) => {
        const { id } = (await lists.create(allowed, network, { actor })).item;
        const changed = await lists.update(allowed, id, { decide: () => ({ enabled: false }), actor });
        expect(changed).toMatchObject({ id, enabled: false, comment: 'a partner' });
        expect(changed && changed.modified_on > changed.created_on).toBe(true);
        expect(await lists.update(allowed, id, { decide: () => ({}), actor })).toEqual(changed);
        const decide = () => {
          throw new Error('no');
        };
        await expect(lists.update(allowed, id, { decide, actor })).rejects.toThrow('no');
        await expect(lists.delete(allowed, id, { check: decide, actor })).rejects.toThrow('no');
        expect(await lists.list(allowed)).toEqual([changed]);
        expect(await lists.update(denied, id, { decide: () => ({ enabled: true }), actor })).toBeUndefined();
      }));

    it('a deletion removes one entry, or all entries of a list', () =>
      withStores(async ({ lists }) => {
        const check = () => {};
        const { id } = (await lists.create(allowed, network, { actor })).item;
        await lists.create(allowed, name, { actor });
        await lists.create(denied, name, { actor });
        expect(await lists.delete(denied, id, { check, actor })).toBe(false);
        expect(await lists.delete(allowed, id, { check, actor })).toBe(true);
        expect(await lists.deleteAll(allowed, actor)).toBe(1);
        expect(await lists.deleteAll(allowed, actor)).toBe(0);
        expect(await lists.list(denied)).toHaveLength(1);
      }));

    it('the limit of entries per list holds, also for parallel creates', () =>
      withStores(async ({ lists }) => {
        const outcomes = await settleInBatches(MAX_ENTRIES_PER_LIST + 20, () =>
          lists.create(allowed, network, { actor }),
        );
        const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
        expect(failed).toHaveLength(20);
        for (const error of failed) expect(error).toBeInstanceOf(TooManyEntries);
        await lists.create(denied, network, { actor });
        expect(await lists.deleteAll(allowed, actor)).toBe(MAX_ENTRIES_PER_LIST);
        await lists.create(allowed, network, { actor });
      }));

    it('the audit log records every change: actor, time, address, before and after', () =>
      withStores(async ({ lists, audit }) => {
        const { item: entry } = await lists.create(allowed, network, { actor });
        const changed = await lists.update(allowed, entry.id, { decide: () => ({ comment: 'x' }), actor });
        await lists.deleteAll(allowed, { by: 'token-2', from: '192.0.2.2' });
        const common = { ...actor, account: 'a', list: 'allowlist', entry: entry.id };
        expect(await audited(audit)).toEqual([
          { ...common, at: entry.created_on, action: 'list.create', before: null, after: entry },
          { ...common, at: changed?.modified_on, action: 'list.update', before: entry, after: changed },
          {
            ...common,
            by: 'token-2',
            from: '192.0.2.2',
            at: expect.any(String),
            action: 'list.delete',
            before: changed,
            after: null,
          },
        ]);
      }));

    it('entries persist after a restart, and listeners are notified of changes, also through another handle', async () => {
      const place = engine.newPlace();
      const before = await place.open();
      const { item: entry } = await before.lists.create(allowed, network, { actor });
      await before.close();
      const [here, there] = [await place.open(), await place.open()];
      expect(await here.lists.list(allowed)).toEqual([entry]);
      const heard: string[] = [];
      const end = here.lists.onChange((account) => heard.push(account));
      await here.lists.create({ ...denied, accountId: 'own' }, name, { actor });
      expect(heard).toEqual(['own']);
      await there.lists.create({ ...denied, accountId: 'foreign' }, name, { actor });
      await until('the change through the other handle to be reported', () => heard.includes('foreign'));
      end();
      await here.close();
      await there.close();
      place.remove();
    });
  });
}
