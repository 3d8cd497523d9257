import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type CreatedZonePolicy,
  formatTimestamp,
  MAX_ZONE_POLICIES,
  SnapshotCache,
  stamp,
  TooManyZonePolicies,
  type ZoneChange,
  ZoneHasPolicy,
  type ZonePolicy,
  type ZonePolicyCreation,
  type ZonePolicyDeletion,
  type ZonePolicySettings,
  type ZonePolicyStore,
  type ZonePolicyUpdate,
} from '../../index.ts';
import { CachedCollections } from './cachedCollections.ts';
import type { Listeners } from './connection/listeners.ts';
import { statement } from './connection/statement.ts';
import { IdempotencyRecords, type Retry } from './idempotencyRecords.ts';
import type { StoreParts } from './storeParts.ts';
import { queries } from './tables.ts';
import type { Transaction } from './transaction.ts';

const COMPETING = `SELECT (SELECT count(*) FROM floodgate.zone_policies WHERE account = $1) AS count,
  (SELECT id FROM floodgate.zone_policies WHERE account = $1 AND zone = $2) AS id`;
const NO_POLICIES: readonly ZonePolicy[] = Object.freeze([]);

/** Zone policies in PostgreSQL. `zones_changed_at` of an account shows whether its cached policies are current. */
export class PostgresZonePolicyStore implements ZonePolicyStore {
  readonly #parts: StoreParts;
  readonly #listeners: Listeners;
  readonly #retryKeys = new IdempotencyRecords();
  readonly collection: CachedCollections<ZonePolicy>;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#listeners = parts.feed.zones;
    this.collection = new CachedCollections({
      connections: parts.connections,
      snapshots: new SnapshotCache<ZonePolicy>(),
      changedAt: (account) =>
        queries
          .selectFrom('accounts')
          .select('zones_changed_at as at')
          .where('account', '=', account)
          .compile(),
      all: (account) =>
        queries
          .selectFrom('accounts')
          .leftJoin('zone_policies', 'zone_policies.account', 'accounts.account')
          .select(['accounts.zones_changed_at as at', 'zone_policies.policy as item'])
          .where('accounts.account', '=', account)
          .orderBy('zone_policies.created_on')
          .orderBy('zone_policies.id')
          .compile(),
      finish: (policy) => Object.freeze(policy),
    });
    this.#listeners.cached = () => this.collection.cached();
    this.#listeners.add((account) => this.collection.scheduleRead(account));
  }

  async list(accountId: string): Promise<readonly ZonePolicy[]> {
    return (await this.collection.read(accountId)) ?? NO_POLICIES;
  }

  async get(accountId: string, id: string): Promise<ZonePolicy | undefined> {
    return this.collection.readOne(accountId, {
      query: queries
        .selectFrom('zone_policies')
        .select('policy as item')
        .where('account', '=', accountId)
        .where('id', '=', id)
        .compile(),
      isIt: (policy) => policy.id === id,
    });
  }

  async create(
    accountId: string,
    fields: ZonePolicySettings,
    { actor, retryKey }: ZonePolicyCreation,
  ): Promise<CreatedZonePolicy> {
    const retry =
      retryKey === undefined
        ? undefined
        : this.#retryKeys.retryOf(accountId, retryKey, JSON.stringify(fields));
    const created = await this.#parts.commits.run(async (transaction): Promise<CreatedZonePolicy> => {
      const first = retry && (await this.#retryKeys.find(transaction, retry));
      // The fingerprint of the request was compared, so the key was used to create a zone policy.
      if (first) return { policy: first.created as ZonePolicy, replayed: true };
      return this.#insert(transaction, fields, { accountId, actor, retry });
    });
    if (!created.replayed) this.#listeners.notify(accountId, created.policy.modified_on);
    return created;
  }

  async update(
    accountId: string,
    id: string,
    { decide, actor }: ZonePolicyUpdate,
  ): Promise<ZonePolicy | undefined> {
    let changed = false;
    const policy = await this.#parts.commits.run(async (transaction) => {
      const [before] = await policiesOf(transaction, accountId, id);
      const settings = before && decide(before);
      changed = settings !== undefined && Object.keys(settings).length > 0;
      if (before === undefined || !changed) return before;
      const moment = transaction.nextMoment();
      const after = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const change = { ...stamp(moment, actor), ...changeOf(accountId, { before, after }) };
      const query = queries
        .updateTable('zone_policies')
        .set({ policy: JSON.stringify(after) })
        .where('account', '=', accountId)
        .where('id', '=', id);
      await transaction.write(query, [change]);
      return after;
    });
    if (policy !== undefined && changed) this.#listeners.notify(accountId, policy.modified_on);
    return policy;
  }

  async delete(accountId: string, id: string, { check, actor }: ZonePolicyDeletion): Promise<boolean> {
    const deleted = await this.#delete(accountId, actor, async (transaction) => {
      const policies = await policiesOf(transaction, accountId, id);
      for (const policy of policies) check(policy);
      return policies;
    });
    return deleted > 0;
  }

  deleteAll(accountId: string, actor: Actor): Promise<number> {
    return this.#delete(accountId, actor, (transaction) => policiesOf(transaction, accountId));
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  async #insert(
    transaction: Transaction,
    fields: ZonePolicySettings,
    { accountId, actor, retry }: Insertion,
  ): Promise<CreatedZonePolicy> {
    const [competing] = await transaction.read(
      statement<{ count: number; id: string | null }>(COMPETING, [accountId, fields.zone]),
    );
    if (competing !== undefined && competing.id !== null) throw new ZoneHasPolicy(fields.zone, competing.id);
    if ((competing?.count ?? 0) >= MAX_ZONE_POLICIES)
      throw new TooManyZonePolicies(accountId, MAX_ZONE_POLICIES);
    const moment = transaction.nextMoment();
    const at = formatTimestamp(moment);
    const policy: ZonePolicy = { id: randomUUID(), ...fields, created_on: at, modified_on: at };
    const { id, zone, created_on } = policy;
    const row = { account: accountId, id, zone, created_on, policy: JSON.stringify(policy) };
    const change = { ...stamp(moment, actor), ...changeOf(accountId, { before: null, after: policy }) };
    await transaction.write(queries.insertInto('zone_policies').values(row), [change]);
    const first = { created: policy, overrides: [], at: moment };
    if (retry) await this.#retryKeys.keep(transaction, retry, first);
    return { policy, replayed: false };
  }

  /** Deletes the policies that `find` returns, each with a unique time. Returns the number of deleted policies. */
  async #delete(
    accountId: string,
    actor: Actor,
    find: (transaction: Transaction) => Promise<readonly ZonePolicy[]>,
  ): Promise<number> {
    const changes = await this.#parts.commits.run(async (transaction) => {
      const policies = await find(transaction);
      if (policies.length === 0) return [];
      const first = transaction.nextMoment(policies.length);
      const deletions = policies.map((before, index): ZoneChange => {
        return { ...stamp(first + index, actor), ...changeOf(accountId, { before, after: null }) };
      });
      const ids = policies.map(({ id }) => id);
      const query = queries
        .deleteFrom('zone_policies')
        .where('account', '=', accountId)
        .where('id', 'in', ids);
      await transaction.write(query, deletions);
      return deletions;
    });
    const last = changes.at(-1);
    if (last !== undefined) this.#listeners.notify(accountId, last.at);
    return changes.length;
  }
}

interface Insertion {
  readonly accountId: string;
  readonly actor: Actor;
  readonly retry: Retry | undefined;
}

async function policiesOf(
  transaction: Transaction,
  accountId: string,
  id?: string,
): Promise<readonly ZonePolicy[]> {
  const all = queries
    .selectFrom('zone_policies')
    .select('policy')
    .where('account', '=', accountId)
    .orderBy('created_on')
    .orderBy('id');
  const rows = await transaction.read((id === undefined ? all : all.where('id', '=', id)).compile());
  return rows.map(({ policy }) => policy);
}

interface PolicyChange {
  readonly before: ZonePolicy | null;
  readonly after: ZonePolicy | null;
}

function changeOf(account: string, { before, after }: PolicyChange) {
  const action = before === null ? 'zone.create' : after === null ? 'zone.delete' : 'zone.update';
  const { zone = '', id: policy = '' } = after ?? before ?? {};
  return { action, account, zone, policy, before, after } as const;
}
