import { describe, expect, it } from 'vitest';
import {
  type Actor,
  type AuditEntry,
  type AuditFilter,
  type AuditLog,
  CreatorEnded,
  effectiveRule,
  KeyReused,
  MAX_ENDED_TOKENS,
  MAX_RULES_PER_ACCOUNT,
  MAX_VALID_FOR_TENANTS,
  MAX_VALID_IN_TREE,
  MAX_VALID_TOKENS,
  type Micros,
  type NewRule,
  type NewToken,
  type RevokedTokens,
  type Rule,
  type RuleStore,
  ruleFormat,
  type Token,
  type TokenStore,
  TooManyRules,
  TooManyTokens,
} from '../../src/rules/index.ts';
import { runInBatches, settleInBatches } from '../support/batches.ts';
import { HANG_MS } from '../support/hang.ts';

/** The stores of an engine in one data folder or database; a second handle can be opened at the same time. */
export interface StoresUnderTest {
  readonly rules: RuleStore;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** Returns an empty data folder or database, which `remove` deletes. */
  newPlace(): { open(now?: () => Micros): Promise<StoresUnderTest>; remove(): void };
}

const actor: Actor = { by: 'token-1', from: '192.0.2.1' };
const fields: NewRule = {
  scope: 'region',
  name: 'WEUR',
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
};
const allow = () => {};

/** Tests that every implementation of `RuleStore`, `TokenStore` and `AuditLog` must pass. */
export function ruleStoreContract(engine: Engine): void {
  const withStores = async (use: (stores: StoresUnderTest) => Promise<void>, now?: () => Micros) => {
    const place = engine.newPlace();
    const stores = await place.open(now);
    try {
      await use(stores);
    } finally {
      await stores.close();
      place.remove();
    }
  };

  describe(`rules on ${engine.name}`, () => {
    it('retry keys that were stored while the clock was ahead expire a day after the clock was corrected', async () => {
      const hour = 3_600_000_000;
      let clock = 1_000_000 * hour;
      await withStores(
        async ({ rules }) => {
          clock += 9_000 * hour;
          await rules.create('a', fields, { actor, retryKey: 'ahead' });
          clock -= 9_000 * hour;
          await rules.create('a', fields, { actor, retryKey: 'right' });
          const other = { ...fields, mode: 'disabled' } as const;
          clock += 23 * hour;
          for (const key of ['ahead', 'right'])
            await expect(rules.create('a', other, { actor, retryKey: key })).rejects.toBeInstanceOf(
              KeyReused,
            );
          clock += 2 * hour;
          for (const key of ['ahead', 'right'])
            expect((await rules.create('a', other, { actor, retryKey: key })).replayed).toBe(false);
          await expect(rules.create('a', fields, { actor, retryKey: 'ahead' })).rejects.toBeInstanceOf(
            KeyReused,
          );
        },
        () => clock,
      );
    });

    it('a created rule is returned by id and in the list', () =>
      withStores(async ({ rules }) => {
        const { item: rule } = await rules.create('a', fields, { actor });
        expect(await rules.get('a', rule.id)).toEqual(rule);
        expect(await rules.list('a')).toEqual([rule]);
        expect(await rules.get('b', rule.id)).toBeUndefined();
        expect(await rules.list('b')).toEqual([]);
      }));

    it('a stored name of a location that a new rule cannot have is read, listed, updated and deleted', () =>
      withStores(async ({ rules }) => {
        // The service accepted such names before. The store does not check them.
        const { item: rule } = await rules.create('a', { ...fields, name: 'Zürich 大阪' }, { actor });
        expect(() => ruleFormat.checkNewRule({ ...fields, name: rule.name })).toThrow(/visible ASCII/);
        expect([await rules.get('a', rule.id), await rules.list('a')]).toEqual([rule, [rule]]);
        const decide = (stored: Rule) => ruleFormat.checkRulePatch(stored, { ...stored, mode: 'disabled' });
        await rules.update('a', rule.id, { decide, actor });
        const [updated] = await rules.list('a');
        expect(updated).toMatchObject({ name: rule.name, mode: 'disabled' });
        expect(effectiveRule(await rules.list('a'), { region: 'zürich 大阪' })).toEqual(updated);
        await rules.delete('a', rule.id, { check: allow, actor });
        expect(await rules.list('a')).toEqual([]);
      }));

    it('the list is frozen, and the same object until a rule of the account changes', () =>
      withStores(async ({ rules }) => {
        const { item: rule } = await rules.create('a', fields, { actor });
        const list = await rules.list('a');
        expect(Object.isFrozen(list)).toBe(true);
        await rules.create('b', fields, { actor });
        expect(await rules.list('a')).toBe(list);
        await rules.update('a', rule.id, { decide: () => ({ mode: 'disabled' }), actor });
        expect(await rules.list('a')).not.toBe(list);
        expect(list[0]?.mode).toBe('enabled');
      }));

    it('modified_on increases with every change, even if the clock stops or is set back', () =>
      withStores(
        async ({ rules }) => {
          const stamps: string[] = [];
          const { item: rule } = await rules.create('a', fields, { actor });
          stamps.push(rule.modified_on);
          for (const mode of ['disabled', 'enabled', 'monitoring'] as const)
            stamps.push(
              (await rules.update('a', rule.id, { decide: () => ({ mode }), actor }))?.modified_on ?? '',
            );
          stamps.push((await rules.create('b', fields, { actor })).item.modified_on);
          expect(stamps).toEqual([...new Set(stamps)].sort());
        },
        (() => {
          let moment = 1_790_000_000_000_000;
          return () => {
            moment -= 1_000_000;
            return moment;
          };
        })(),
      ));

    it('parallel updates of one rule lose no field', () =>
      withStores(async ({ rules }) => {
        const { item: rule } = await rules.create('a', fields, { actor });
        const changes = [
          { mode: 'disabled' },
          { profile_sensitivity: 'very_high' },
          { rate_sensitivity: 'high' },
          { burst_sensitivity: 'medium' },
        ] as const;
        await Promise.all(
          changes.map((change) => rules.update('a', rule.id, { decide: () => change, actor })),
        );
        expect(await rules.get('a', rule.id)).toMatchObject(Object.assign({}, ...changes));
      }));

    it('an update or deletion whose decision is empty or throws writes nothing', () =>
      withStores(async ({ rules, audit }) => {
        const { item: rule } = await rules.create('a', fields, { actor });
        expect(await rules.update('a', rule.id, { decide: () => ({}), actor })).toEqual(rule);
        const refuse = () => {
          throw new Error('refused');
        };
        await expect(rules.update('a', rule.id, { decide: refuse, actor })).rejects.toThrow('refused');
        await expect(rules.delete('a', rule.id, { check: refuse, actor })).rejects.toThrow('refused');
        expect(await rules.list('a')).toEqual([rule]);
        expect(await entries(audit)).toHaveLength(1);
      }));

    it('an update or deletion of a missing rule reports that it does not exist', () =>
      withStores(async ({ rules }) => {
        const id = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
        expect(await rules.update('a', id, { decide: () => ({ mode: 'disabled' }), actor })).toBeUndefined();
        expect(await rules.delete('a', id, { check: allow, actor })).toBe(false);
        expect(await rules.deleteAll('a', actor)).toBe(0);
      }));

    it('a create returns the ids of older rules with the same target', () =>
      withStores(async ({ rules }) => {
        const older = await rules.create('a', fields, { actor });
        await rules.create('a', { ...fields, name: 'WEU' }, { actor });
        await rules.create('a', { ...fields, scope: 'datacenter' }, { actor });
        await rules.create('b', fields, { actor });
        const newer = await rules.create('a', { ...fields, name: 'weur' }, { actor });
        expect(newer.overrides).toEqual([older.item.id]);
        await rules.delete('a', older.item.id, { check: allow, actor });
        expect((await rules.create('a', fields, { actor })).overrides).toEqual([newer.item.id]);
      }));

    it('the limit of rules per account holds, also for parallel creates', () =>
      withStores(async ({ rules }) => {
        const results = await settleInBatches(MAX_RULES_PER_ACCOUNT + 10, () =>
          rules.create('a', fields, { actor }),
        );
        const refused = results.filter((result) => result.status === 'rejected');
        expect(refused).toHaveLength(10);
        for (const { reason } of refused) expect(reason).toBeInstanceOf(TooManyRules);
        expect(await rules.list('a')).toHaveLength(MAX_RULES_PER_ACCOUNT);
        expect(await rules.deleteAll('a', actor)).toBe(MAX_RULES_PER_ACCOUNT);
        expect((await rules.create('a', fields, { actor })).overrides).toEqual([]);
      }));

    it('a retry key replays the response for 24 hours, and then expires', async () => {
      let moment = 1_790_000_000_000_000;
      await withStores(
        async ({ rules }) => {
          const first = await rules.create('a', fields, { actor, retryKey: 'key' });
          moment += 86_399_000_000;
          expect(await rules.create('a', fields, { actor, retryKey: 'key' })).toEqual({
            ...first,
            replayed: true,
          });
          const other = { ...fields, mode: 'disabled' } as const;
          await expect(rules.create('a', other, { actor, retryKey: 'key' })).rejects.toBeInstanceOf(
            KeyReused,
          );
          moment += 2_000_000;
          const next = await rules.create('a', other, { actor, retryKey: 'key' });
          expect(next.replayed).toBe(false);
          expect((await rules.create('a', other, { actor, retryKey: 'key' })).item).toEqual(next.item);
        },
        () => moment,
      );
    });

    it('rules and retry keys persist after a restart', async () => {
      const place = engine.newPlace();
      const before = await place.open();
      const { item: rule } = await before.rules.create('a', fields, { actor, retryKey: 'key' });
      await before.close();
      const after = await place.open();
      expect(await after.rules.list('a')).toEqual([rule]);
      expect((await after.rules.create('a', fields, { actor, retryKey: 'key' })).replayed).toBe(true);
      await after.close();
      place.remove();
    });

    it('listeners are notified of own changes when they are durable, and of changes through another handle', async () => {
      const place = engine.newPlace();
      const [here, there] = [await place.open(), await place.open()];
      const heard: string[] = [];
      const timesHeard = (account: string) => heard.filter((each) => each === account).length;
      const end = here.rules.onChange((account) => heard.push(account));
      await here.rules.create('own', fields, { actor });
      expect(heard).toContain('own');
      await there.rules.create('foreign', fields, { actor });
      await expect.poll(() => timesHeard('foreign'), { timeout: HANG_MS }).toBeGreaterThan(0);
      const before = timesHeard('foreign');
      await there.rules.deleteAll('foreign', actor);
      await expect.poll(() => timesHeard('foreign'), { timeout: HANG_MS }).toBeGreaterThan(before);
      end();
      const sofar = heard.length;
      await here.rules.deleteAll('own', actor);
      expect(heard).toHaveLength(sofar);
      await here.close();
      await there.close();
      place.remove();
    });
  });

  describe(`audit log on ${engine.name}`, () => {
    it('contains zones to forget, between the changes before and after', () =>
      withStores(async ({ rules, audit }) => {
        const { item: rule } = await rules.create('a', fields, { actor });
        const zone = { account: 'a', zone: 'example.com', policy: 'p' };
        await audit.addForgotten(zone, actor);
        await rules.delete('a', rule.id, { check: allow, actor });
        const all = await entries(audit, { account: 'a' });
        expect(all.map(({ action }) => action)).toEqual(['rule.create', 'zone.forget', 'rule.delete']);
        const forgotten = { ...actor, action: 'zone.forget', ...zone, before: null, after: null };
        expect(all[1]).toEqual({ ...forgotten, at: expect.any(String) });
        expect(new Set(all.map(({ at }) => at)).size).toBe(3);
        expect(await entries(audit, { account: 'b' })).toEqual([]);
      }));

    it('contains actor, time, address, before and after of every change, in order', () =>
      withStores(async ({ rules, audit }) => {
        const { item: rule } = await rules.create('a', fields, { actor });
        const changed = await rules.update('a', rule.id, { decide: () => ({ mode: 'disabled' }), actor });
        await rules.delete('a', rule.id, { check: allow, actor: { by: 'token-2', from: '192.0.2.2' } });
        const common = { ...actor, account: 'a', rule: rule.id };
        expect(await entries(audit)).toEqual([
          { ...common, at: rule.created_on, action: 'rule.create', before: null, after: rule },
          { ...common, at: changed?.modified_on, action: 'rule.update', before: rule, after: changed },
          {
            by: 'token-2',
            from: '192.0.2.2',
            account: 'a',
            rule: rule.id,
            at: expect.any(String),
            action: 'rule.delete',
            before: changed,
            after: null,
          },
        ]);
      }));

    it('contains an entry per rule after all rules were deleted', () =>
      withStores(async ({ rules, audit }) => {
        const ids = [];
        for (let index = 0; index < 3; index++)
          ids.push((await rules.create('a', fields, { actor })).item.id);
        await rules.deleteAll('a', actor);
        const deleted = (await entries(audit)).slice(3);
        expect(deleted.map((entry) => 'rule' in entry && entry.rule)).toEqual(ids);
        expect(new Set(deleted.map((entry) => entry.at)).size).toBe(3);
      }));

    it('can be read by account, rule and time, in both orders', () =>
      withStores(async ({ rules, tokens, audit }) => {
        const made: Rule[] = [];
        for (const account of ['a', 'b', 'a'])
          made.push((await rules.create(account, fields, { actor })).item);
        await tokens.create(newToken, actor);
        const [first, second, third] = made as [Rule, Rule, Rule];
        const ids = async (filter: AuditFilter, newestFirst = false) =>
          (await entries(audit, filter, newestFirst)).map((entry) =>
            'rule' in entry ? entry.rule : 'token',
          );
        expect(await ids({})).toEqual([first.id, second.id, third.id, 'token']);
        expect(await ids({}, true)).toEqual(['token', third.id, second.id, first.id]);
        expect(await ids({ account: 'a' })).toEqual([first.id, third.id]);
        const withTokens = { account: 'a', withTokens: true };
        expect(await ids(withTokens)).toEqual([first.id, third.id, 'token']);
        expect(await ids(withTokens, true)).toEqual(['token', third.id, first.id]);
        expect(await ids({ ...withTokens, rule: first.id })).toEqual([first.id]);
        const page = await audit.page(withTokens, { limit: 2 });
        expect(page.entries.map(({ action }) => action)).toEqual(['token.create', 'rule.create']);
        expect((await audit.page(withTokens, { limit: 2, from: page.next })).entries).toMatchObject([
          { rule: first.id },
        ]);
        expect(await ids({ rule: second.id })).toEqual([second.id]);
        expect(await ids({ since: second.created_on })).toEqual([second.id, third.id, 'token']);
        expect(await ids({ until: second.created_on })).toEqual([first.id, second.id]);
        const middle = { since: second.created_on, until: second.created_on };
        expect(await ids(middle)).toEqual([second.id]);
        expect(await ids(middle, true)).toEqual([second.id]);
      }));

    it('is complete in both orders if it exceeds one read batch', () =>
      withStores(async ({ rules, audit }) => {
        await runInBatches(1000, () => rules.create('a', fields, { actor }));
        await rules.deleteAll('a', actor);
        await runInBatches(500, () => rules.create('a', fields, { actor }));
        const stamps = (await entries(audit)).map((entry) => entry.at);
        expect(stamps).toHaveLength(2500);
        expect(stamps).toEqual([...new Set(stamps)].sort());
        expect((await entries(audit, {}, true)).map((entry) => entry.at)).toEqual(stamps.toReversed());
      }));
  });

  describe(`tokens on ${engine.name}`, () => {
    it('a token is found by its hash, listed, and permanently revoked', () =>
      withStores(async ({ tokens }) => {
        const token = await tokens.create(newToken, actor);
        expect(token).toMatchObject({
          ...newToken,
          id: expect.stringMatching(/^[0-9a-f]{32}$/),
          revoked_on: null,
        });
        expect(await tokens.findByHash(newToken.hash)).toEqual(token);
        expect(await tokens.findByHash('00'.repeat(32))).toBeUndefined();
        const revoked = await tokens.revoke(token.id, actor);
        expect(revoked).toEqual({ token: { ...token, revoked_on: expect.any(String) }, descendants: [] });
        expect(await tokens.revoke(token.id, actor)).toEqual(revoked);
        expect(await tokens.findByHash(newToken.hash)).toEqual(revoked?.token);
        expect(await tokens.list()).toEqual([revoked?.token]);
        expect(await tokens.revoke('unknown', actor)).toBeUndefined();
      }));

    it('a create with a known hash returns the existing token', () =>
      withStores(async ({ tokens, audit }) => {
        const both = await Promise.all([
          tokens.create(newToken, actor),
          tokens.create({ ...newToken, accounts: 'all', label: 'stolen' }, actor),
        ]);
        expect(both[1]).toEqual(both[0]);
        expect(both[0]).toMatchObject({ ...newToken, created_by: actor.by });
        expect(await tokens.list()).toEqual([both[0]]);
        expect(await entries(audit)).toHaveLength(1);
      }));

    it('at most MAX_VALID_TOKENS tokens can be valid', () =>
      withStores(async ({ tokens }) => {
        const one = (i: number, expires_on: string | null = null) =>
          tokens.create({ ...newToken, hash: i.toString(16).padStart(64, '0'), expires_on }, actor);
        await one(MAX_VALID_TOKENS, '2001-01-01T00:00:00.000000+00:00');
        await runInBatches(MAX_VALID_TOKENS, (i) => one(i));
        await expect(one(2000)).rejects.toBeInstanceOf(TooManyTokens);
        const [first] = await tokens.list();
        await tokens.revoke((await tokens.list())[1]?.id ?? '', actor);
        expect(first).toBeDefined();
        expect(await one(2000)).toMatchObject({ revoked_on: null });
        await expect(one(2001)).rejects.toBeInstanceOf(TooManyTokens);
      }));

    it('the tokens that ended last remain in the list, and those of a small tree', () =>
      withStores(async ({ tokens }) => {
        const create = tokenMaker(tokens);
        const [small, large] = [await create(actor.by), await create(actor.by)];
        const ended = async (by: string): Promise<Token> => {
          const token = await create(by);
          await tokens.revoke(token.id, actor);
          return token;
        };
        const oldest = await ended(small.id);
        const first = await ended(large.id);
        await tokens.noteUses(new Map([[first.id, IN_2098]]));
        for (let i = 2; i < MAX_ENDED_TOKENS; i++) await ended(large.id);
        expect(await tokens.findByHash(first.hash)).toMatchObject({ id: first.id });
        const last = await ended(large.id);
        const newest = await create(large.id);
        const listed = (await tokens.list()).map(({ id }) => id);
        expect(listed).toHaveLength(MAX_ENDED_TOKENS + 3);
        expect(listed).toEqual(expect.arrayContaining([oldest.id, last.id, small.id, large.id, newest.id]));
        expect(listed).not.toContain(first.id);
        expect(await tokens.findByHash(first.hash)).toBeUndefined();
        await tokens.noteUses(new Map([[first.id, IN_2099]]));
        expect((await tokens.lastUses()).has(first.id)).toBe(false);
        expect(await tokens.revoke(first.id, actor)).toBeUndefined();
        await expect(create(first.id)).rejects.toBeInstanceOf(CreatorEnded);
      }));

    it('a token that a token creates belongs to the tree of its creator, and expires no later', () =>
      withStores(async ({ tokens }) => {
        const create = tokenMaker(tokens);
        const root = await create(actor.by, { expires_on: IN_2099 });
        const child = await create(root.id, { expires_on: null });
        const grandchild = await create(child.id, { expires_on: IN_2098 });
        expect(root).not.toHaveProperty('root');
        expect(child).toMatchObject({ root: root.id, created_by: root.id, expires_on: IN_2099 });
        expect(grandchild).toMatchObject({ root: root.id, created_by: child.id, expires_on: IN_2098 });
        for (const by of ['cli:tester', 'configured:0123456789abcdef'])
          expect(await create(by)).not.toHaveProperty('root');
        await expect(create('0'.repeat(32))).rejects.toBeInstanceOf(CreatorEnded);
      }));

    it('a revocation also revokes the valid tokens below, in one transaction with an audit entry each', () =>
      withStores(async ({ tokens, audit }) => {
        const create = tokenMaker(tokens);
        const root = await create(actor.by);
        const [left, right] = [await create(root.id), await create(root.id)];
        const [below, deepest] = [await create(left.id), await create(left.id)];
        const deeper = await create(deepest.id);
        const other = await create(actor.by);
        await tokens.revoke(below.id, actor);
        const ids = ({ token, descendants }: RevokedTokens) => [token.id, ...descendants.map(({ id }) => id)];
        const revoked = await tokens.revoke(left.id, actor);
        expect(revoked && ids(revoked)).toEqual([left.id, deepest.id, deeper.id]);
        expect((await entries(audit)).slice(-3)).toMatchObject(
          [left, deepest, deeper].map(({ id }) => ({
            ...actor,
            action: 'token.revoke',
            token: id,
            before: { revoked_on: null },
            after: { revoked_on: revoked?.token.revoked_on },
          })),
        );
        const valid = async () => (await tokens.list()).filter((one) => one.revoked_on === null);
        expect((await valid()).map(({ id }) => id)).toEqual([root.id, right.id, other.id]);
        await tokens.revoke(root.id, actor);
        expect((await valid()).map(({ id }) => id)).toEqual([other.id]);
        const moments = (await entries(audit)).map(({ at }) => at);
        expect(moments).toEqual([...new Set(moments)].sort());
      }));

    it('a token that has ended creates no other, even if both requests arrive together', () =>
      withStores(async ({ tokens }) => {
        const create = tokenMaker(tokens);
        const token = await create(actor.by);
        const [, made] = await Promise.all([
          tokens.revoke(token.id, actor),
          create(token.id).catch((error: unknown) => error),
        ]);
        // A store may create the token first. The revocation then ends it, too.
        const valid = async () => (await tokens.list()).filter((one) => one.revoked_on === null);
        if (!(made instanceof CreatorEnded)) expect(made).toMatchObject({ root: token.id });
        expect(await valid()).toEqual([]);
        await expect(create(token.id)).rejects.toBeInstanceOf(CreatorEnded);
        const before = (await tokens.list()).length;
        const expired = await create(actor.by, { expires_on: '2001-01-01T00:00:00.000000+00:00' });
        await expect(create(expired.id)).rejects.toBeInstanceOf(CreatorEnded);
        expect(await tokens.list()).toHaveLength(before + 1);
      }));

    it('a tree has at most 100 valid tokens, and the error names the limit and the tree', () =>
      withStores(async ({ tokens }) => {
        const create = tokenMaker(tokens);
        const root = await create(actor.by);
        const other = await create(actor.by);
        const child = await create(root.id);
        await runInBatches(MAX_VALID_IN_TREE - 2, (i) => create(i % 2 ? root.id : child.id));
        for (const by of [root, child]) {
          const refused = await create(by.id).catch((error: Error) => error);
          expect(refused).toBeInstanceOf(TooManyTokens);
          expect((refused as Error).message).toMatch(new RegExp(`${root.id}.* 100 `));
        }
        expect(await create(other.id)).toMatchObject({ root: other.id });
        await tokens.revoke(child.id, actor);
        expect(await create(root.id)).toMatchObject({ root: root.id });
      }));

    it('only an operator creates the last 100 tokens', () =>
      withStores(async ({ tokens }) => {
        const create = tokenMaker(tokens);
        const [tenant, manager] = [await create(actor.by), await create(actor.by, { accounts: 'all' })];
        const child = await create(manager.id, { accounts: 'all' });
        await runInBatches(MAX_VALID_FOR_TENANTS - 4, () => create(actor.by));
        expect(await create(tenant.id)).toMatchObject({ root: tenant.id });
        for (const by of [tenant, child])
          await expect(create(by.id)).rejects.toThrow(/900 tokens are valid.*only an operator/);
        await create(manager.id);
        await create('cli:tester');
      }));

    it('the time of last use is kept across restarts, visible to other handles, and never goes back', async () => {
      const place = engine.newPlace();
      const [early, late] = ['2026-01-01T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00'];
      const first = await place.open();
      expect(await first.tokens.lastUses()).toEqual(new Map());
      const create = tokenMaker(first.tokens);
      const [a, b] = [(await create(actor.by)).id, (await create(actor.by)).id];
      const changes = await entries(first.audit);
      const uses = new Map([
        [a, late],
        [b, early],
      ]);
      await first.tokens.noteUses(new Map([...uses, ['unknown', late]]));
      await first.tokens.noteUses(new Map([[a, early]]));
      await first.close();
      const second = await place.open();
      expect(await second.tokens.lastUses()).toEqual(uses);
      expect(await entries(second.audit)).toEqual(changes);
      await second.close();
      place.remove();
    });

    it('a revocation through another handle is visible at once', async () => {
      const place = engine.newPlace();
      const [here, there] = [await place.open(), await place.open()];
      const token = await here.tokens.create(newToken, actor);
      expect((await there.tokens.findByHash(newToken.hash))?.revoked_on).toBeNull();
      await there.tokens.revoke(token.id, actor);
      expect((await here.tokens.findByHash(newToken.hash))?.revoked_on).not.toBeNull();
      await here.close();
      await there.close();
      place.remove();
    });

    it('the audit log contains the changes, without the hash', () =>
      withStores(async ({ tokens, audit }) => {
        const token = await tokens.create(newToken, actor);
        await tokens.revoke(token.id, actor);
        const all = await entries(audit);
        expect(all.map(({ action }) => action)).toEqual(['token.create', 'token.revoke']);
        expect(all[1]).toMatchObject({ ...actor, token: token.id, before: { revoked_on: null } });
        expect(JSON.stringify(all)).not.toContain(newToken.hash);
      }));
  });
}

const IN_2098 = '2098-01-31T00:00:00.000000+00:00';
const IN_2099 = '2099-01-31T00:00:00.000000+00:00';

/** Returns a function that creates a token with a unique hash, as the actor with this id. */
function tokenMaker(tokens: TokenStore) {
  let made = 0;
  return (by: string, more: Partial<NewToken> = {}): Promise<Token> => {
    const hash = (++made).toString(16).padStart(64, '0');
    return tokens.create({ ...newToken, hash, ...more }, { ...actor, by });
  };
}

const newToken = {
  hash: 'ab'.repeat(32),
  label: 'pipeline',
  accounts: ['a'],
  permissions: ['dns_protection:write'],
  expires_on: null,
} as const;

async function entries(
  audit: AuditLog,
  filter: AuditFilter = {},
  newestFirst = false,
): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const entry of audit.read(filter, { newestFirst })) found.push(entry);
  return found;
}
