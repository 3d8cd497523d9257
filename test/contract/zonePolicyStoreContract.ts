import { describe, expect, it } from 'vitest';
import {
  type Actor,
  type AuditEntry,
  type AuditLog,
  checkNewZonePolicy,
  exampleRule,
  KeyReused,
  MAX_ZONE_POLICIES,
  type Micros,
  type RuleStore,
  TooManyZonePolicies,
  ZoneHasPolicy,
  type ZonePolicyStore,
} from '../../src/rules/index.ts';
import { settleInBatches } from '../support/batches.ts';
import { until } from '../support/until.ts';

/** The stores of an engine in one data folder or database; a second handle can be opened at the same time. */
export interface ZonePoliciesUnderTest {
  readonly zonePolicies: ZonePolicyStore;
  readonly rules: RuleStore;
  readonly audit: AuditLog;
  close(): Promise<void>;
}

export interface ZonePolicyEngine {
  readonly name: string;
  /** Returns an empty data folder or database, which `remove` deletes. */
  newPlace(): { open(now?: () => Micros): Promise<ZonePoliciesUnderTest>; remove(): void };
}

const actor: Actor = { by: 'token-1', from: '192.0.2.1' };
const one = checkNewZonePolicy({ zone: 'example.com', rate: 100, comment: 'ü "x"' });
const other = checkNewZonePolicy({ zone: 'a\\032b.example', mode: 'monitoring' });
const allow = () => {};
const reject = () => {
  throw new Error('no');
};

/** Tests that every implementation of `ZonePolicyStore` must pass. */
export function zonePolicyStoreContract(engine: ZonePolicyEngine): void {
  const withStores = async (use: (stores: ZonePoliciesUnderTest) => Promise<void>) => {
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

  describe(`zone policies on ${engine.name}`, () => {
    it('policies are returned in order, only for their account', () =>
      withStores(async ({ zonePolicies }) => {
        const { item: policy, replayed } = await zonePolicies.create('a', one, { actor });
        const second = await zonePolicies.create('a', other, { actor });
        expect([policy, replayed]).toEqual([expect.objectContaining(one), false]);
        expect(Object.keys(policy)).toEqual(['id', ...Object.keys(one), 'created_on', 'modified_on']);
        expect(await zonePolicies.list('a')).toEqual([policy, second.item]);
        expect(await zonePolicies.get('a', policy.id)).toEqual(policy);
        expect(await zonePolicies.get('b', policy.id)).toBeUndefined();
        expect(await zonePolicies.list('b')).toEqual([]);
      }));

    it('the list is frozen, and the same object until a policy of the account changes', () =>
      withStores(async ({ zonePolicies, rules }) => {
        const { item: policy } = await zonePolicies.create('a', one, { actor });
        const list = await zonePolicies.list('a');
        expect(Object.isFrozen(list)).toBe(true);
        await zonePolicies.create('b', one, { actor });
        await rules.deleteAll('a', actor);
        expect(await zonePolicies.list('a')).toBe(list);
        await zonePolicies.update('a', policy.id, { decide: () => ({ rate: 7 }), actor });
        expect(await zonePolicies.list('a')).not.toBe(list);
        expect(list[0]?.rate).toBe(100);
      }));

    it('a zone has at most one policy in an account, also for parallel creates', () =>
      withStores(async ({ zonePolicies }) => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 5 }, () => zonePolicies.create('a', one, { actor })),
        );
        const failed = outcomes.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(failed).toHaveLength(4);
        const [policy] = await zonePolicies.list('a');
        for (const error of failed) {
          expect(error).toBeInstanceOf(ZoneHasPolicy);
          expect(error.message).toBe(
            `The zone "example.com" already has a policy, ${policy?.id}; change that one`,
          );
        }
        await zonePolicies.create('b', one, { actor });
        await zonePolicies.delete('a', policy?.id ?? '', { check: allow, actor });
        await zonePolicies.create('a', one, { actor });
      }));

    it('an update applies the decided changes, and changes nothing if the decision is empty or throws', () =>
      withStores(async ({ zonePolicies }) => {
        const { id } = (await zonePolicies.create('a', one, { actor })).item;
        const changed = await zonePolicies.update('a', id, { decide: () => ({ rate: null }), actor });
        expect(changed).toMatchObject({ id, rate: null, comment: one.comment });
        expect(changed && changed.modified_on > changed.created_on).toBe(true);
        expect(await zonePolicies.update('a', id, { decide: () => ({}), actor })).toEqual(changed);
        await expect(zonePolicies.update('a', id, { decide: reject, actor })).rejects.toThrow('no');
        await expect(zonePolicies.delete('a', id, { check: reject, actor })).rejects.toThrow('no');
        expect(await zonePolicies.list('a')).toEqual([changed]);
        expect(await zonePolicies.update('b', id, { decide: () => ({ rate: 1 }), actor })).toBeUndefined();
      }));

    it('a deletion removes one policy, or all policies of an account', () =>
      withStores(async ({ zonePolicies }) => {
        const { id } = (await zonePolicies.create('a', one, { actor })).item;
        await zonePolicies.create('a', other, { actor });
        await zonePolicies.create('b', other, { actor });
        expect(await zonePolicies.delete('b', id, { check: allow, actor })).toBe(false);
        expect(await zonePolicies.delete('a', id, { check: allow, actor })).toBe(true);
        expect(await zonePolicies.deleteAll('a', actor)).toBe(1);
        expect(await zonePolicies.deleteAll('a', actor)).toBe(0);
        expect(await zonePolicies.list('a')).toEqual([]);
        expect(await zonePolicies.list('b')).toHaveLength(1);
      }));

    it('the limit of policies per account holds, also for parallel creates', () =>
      withStores(async ({ zonePolicies }) => {
        let zones = 0;
        const outcomes = await settleInBatches(MAX_ZONE_POLICIES + 20, () =>
          zonePolicies.create('a', { ...one, zone: `zone-${zones++}.example` }, { actor }),
        );
        const failed = outcomes.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(failed).toHaveLength(20);
        for (const error of failed) expect(error).toBeInstanceOf(TooManyZonePolicies);
        await zonePolicies.create('b', one, { actor });
        expect(await zonePolicies.deleteAll('a', actor)).toBe(MAX_ZONE_POLICIES);
        await zonePolicies.create('a', one, { actor });
      }));

    it('a retried creation returns the first policy, and its retry key creates nothing else', () =>
      withStores(async ({ zonePolicies, rules }) => {
        const first = await zonePolicies.create('a', one, { actor, retryKey: 'k' });
        const again = await zonePolicies.create('a', { ...one }, { actor, retryKey: 'k' });
        expect(again).toEqual({ ...first, replayed: true });
        await expect(zonePolicies.create('a', other, { actor, retryKey: 'k' })).rejects.toBeInstanceOf(
          KeyReused,
        );
        await expect(rules.create('a', exampleRule, { actor, retryKey: 'k' })).rejects.toBeInstanceOf(
          KeyReused,
        );
        await rules.create('a', exampleRule, { actor, retryKey: 'r' });
        await expect(zonePolicies.create('a', other, { actor, retryKey: 'r' })).rejects.toBeInstanceOf(
          KeyReused,
        );
        await zonePolicies.create('b', other, { actor, retryKey: 'k' });
        expect(await zonePolicies.list('a')).toEqual([first.item]);
      }));

    it('the audit log records every change: actor, time, address, before and after', () =>
      withStores(async ({ zonePolicies, audit }) => {
        const { item: policy } = await zonePolicies.create('a', one, { actor });
        const changed = await zonePolicies.update('a', policy.id, { decide: () => ({ rate: 7 }), actor });
        await zonePolicies.deleteAll('a', { by: 'token-2', from: '192.0.2.2' });
        const common = { ...actor, account: 'a', zone: 'example.com', policy: policy.id };
        expect(await audited(audit)).toEqual([
          { ...common, at: policy.created_on, action: 'zone.create', before: null, after: policy },
          { ...common, at: changed?.modified_on, action: 'zone.update', before: policy, after: changed },
          {
            ...common,
            by: 'token-2',
            from: '192.0.2.2',
            at: expect.any(String),
            action: 'zone.delete',
            before: changed,
            after: null,
          },
        ]);
      }));

    it('policies persist after a restart, and listeners are notified of changes, also through another handle', async () => {
      const place = engine.newPlace();
      const before = await place.open();
      const { item: policy } = await before.zonePolicies.create('a', one, { actor });
      await before.close();
      const [here, there] = [await place.open(), await place.open()];
      expect(await here.zonePolicies.list('a')).toEqual([policy]);
      const heard: string[] = [];
      const end = here.zonePolicies.onChange((account) => heard.push(account));
      const { id } = (await here.zonePolicies.create('own', one, { actor })).item;
      expect(heard).toEqual(['own']);
      await here.zonePolicies.update('own', id, { decide: () => ({ rate: 7 }), actor });
      await here.zonePolicies.update('own', id, { decide: () => ({}), actor });
      expect(heard).toEqual(['own', 'own']);
      await here.zonePolicies.delete('own', id, { check: allow, actor });
      expect(heard).toEqual(['own', 'own', 'own']);
      await there.zonePolicies.create('foreign', one, { actor });
      await until('the change through the other handle to be reported', () => heard.includes('foreign'));
      await there.zonePolicies.deleteAll('a', actor);
      await until('the deletion to be reported', () => heard.includes('a'));
      expect(await here.zonePolicies.list('a')).toEqual([]);
      end();
      await here.close();
      await there.close();
      place.remove();
    });
  });
}
