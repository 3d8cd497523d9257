import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type CreatedZonePolicy,
  formatTimestamp,
  MAX_ZONE_POLICIES,
  type Micros,
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
import { RulesChangeFeed } from './changeFeed.ts';
import { auditWrite, type RulesEnvironment } from './environment.ts';
import type { Decision, Write } from './groupCommit.ts';
import { IdempotencyRecords, type Retry } from './idempotencyRecords.ts';

/** Sorts after every id, which is a UUID. */
const LAST_ID = '\uffff';
const NO_POLICIES: readonly ZonePolicy[] = Object.freeze([]);

/** Zone policies in LMDB, keyed by account and id, with an index by account and zone. */
export class LmdbZonePolicyStore implements ZonePolicyStore {
  readonly #environment: RulesEnvironment;
  readonly #firstAnswers: IdempotencyRecords;
  readonly #snapshots = new SnapshotCache<ZonePolicy>();
  readonly #feed: RulesChangeFeed;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
    this.#firstAnswers = new IdempotencyRecords(environment);
    this.#feed = new RulesChangeFeed(environment, environment.zoneStates);
  }

  async list(accountId: string): Promise<readonly ZonePolicy[]> {
    this.#environment.refresh();
    const changedAt = this.#environment.zoneStates.get(accountId)?.changedAt;
    if (changedAt === undefined) return NO_POLICIES;
    const known = this.#snapshots.get(accountId, changedAt);
    if (known) return known;
    const policies = Object.freeze(this.#scan(accountId));
    this.#snapshots.set(accountId, changedAt, policies);
    return policies;
  }

  async get(accountId: string, id: string): Promise<ZonePolicy | undefined> {
    this.#environment.refresh();
    return this.#environment.zonePolicies.get([accountId, id]);
  }

  async create(
    accountId: string,
    fields: ZonePolicySettings,
    { actor, retryKey }: ZonePolicyCreation,
  ): Promise<CreatedZonePolicy> {
    const retry =
      retryKey === undefined
        ? undefined
        : this.#firstAnswers.retryOf(accountId, retryKey, JSON.stringify(fields));
    const created = await this.#environment.commits.run<CreatedZonePolicy>(() => {
      const first = retry && this.#firstAnswers.find(retry);
      // The fingerprint of the request was compared, so the key was used to create a zone policy.
      if (first) return { result: { policy: first.created as ZonePolicy, replayed: true }, writes: [] };
      return this.#decideCreate(accountId, fields, { actor, retry });
    });
    if (!created.replayed) this.#notify(accountId);
    return created;
  }

  async update(
    accountId: string,
    id: string,
    { decide, actor }: ZonePolicyUpdate,
  ): Promise<ZonePolicy | undefined> {
    const { after, changed } = await this.#environment.commits.run<Updated>(() => {
      const before = this.#environment.zonePolicies.get([accountId, id]);
      const settings = before === undefined ? {} : decide(before);
      if (before === undefined || Object.keys(settings).length === 0)
        return { result: { after: before, changed: false }, writes: [] };
      const moment = this.#environment.nextMoment();
      const policy = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const change = changeOf(accountId, { before, after: policy });
      return {
        result: { after: policy, changed: true },
        writes: this.#writesOf([{ ...stamp(moment, actor), ...change }], moment),
      };
    });
    if (changed) this.#notify(accountId);
    return after;
  }

  async delete(accountId: string, id: string, { check, actor }: ZonePolicyDeletion): Promise<boolean> {
    const find = (): ZonePolicy[] => {
      const policy = this.#environment.zonePolicies.get([accountId, id]);
      if (policy !== undefined) check(policy);
      return policy === undefined ? [] : [policy];
    };
    return (await this.#delete(accountId, find, actor)) > 0;
  }

  deleteAll(accountId: string, actor: Actor): Promise<number> {
    return this.#delete(accountId, () => this.#scan(accountId), actor);
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#feed.listen(listener);
  }

  close(): void {
    this.#feed.stop();
  }

  #decideCreate(
    accountId: string,
    fields: ZonePolicySettings,
    { actor, retry }: { readonly actor: Actor; readonly retry: Retry | undefined },
  ): Decision<CreatedZonePolicy> {
    const { zoneIds, zoneStates } = this.#environment;
    const taken = zoneIds.get([accountId, fields.zone]);
    if (taken !== undefined) throw new ZoneHasPolicy(fields.zone, taken);
    if ((zoneStates.get(accountId)?.count ?? 0) >= MAX_ZONE_POLICIES)
      throw new TooManyZonePolicies(accountId, MAX_ZONE_POLICIES);
    const moment = this.#environment.nextMoment();
    const at = formatTimestamp(moment);
    const policy: ZonePolicy = { id: randomUUID(), ...fields, created_on: at, modified_on: at };
    const change = changeOf(accountId, { before: null, after: policy });
    const writes = this.#writesOf([{ ...stamp(moment, actor), ...change }], moment);
    const first = { created: policy, overrides: [] };
    const kept = retry ? this.#firstAnswers.keep(retry, first, moment) : [];
    return { result: { policy, replayed: false }, writes: [...writes, ...kept] };
  }

  /** Deletes the policies that `find` returns, each with a unique time. Returns the number of deleted policies. */
  async #delete(accountId: string, find: () => readonly ZonePolicy[], actor: Actor): Promise<number> {
    const deleted = await this.#environment.commits.run(
      () => {
        const policies = find();
        const first = this.#environment.nextMoment();
        const changes = policies.map((before, index) => ({
          ...stamp(first + index, actor),
          ...changeOf(accountId, { before, after: null }),
        }));
        return { result: policies.length, writes: this.#writesOf(changes, first) };
      },
      { makesRoom: true },
    );
    if (deleted > 0) this.#notify(accountId);
    return deleted;
  }

  /** Returns the records to write for changes of one account. */
  #writesOf(changes: readonly ZoneChange[], firstMoment: Micros): Write[] {
    const { zonePolicies, zoneIds, zoneStates } = this.#environment;
    const writes: Write[] = [];
    let added = 0;
    for (const [index, change] of changes.entries()) {
      const { account, zone, policy, before, after } = change;
      writes.push({ database: zonePolicies, key: [account, policy], ...(after && { value: after }) });
      writes.push({ database: zoneIds, key: [account, zone], ...(after && { value: policy }) });
      writes.push(auditWrite(this.#environment, firstMoment + index, change));
      added += (after ? 1 : 0) - (before ? 1 : 0);
    }
    const accountId = changes[0]?.account;
    if (accountId === undefined) return writes;
    const changedAt = firstMoment + changes.length - 1;
    const count = (zoneStates.get(accountId)?.count ?? 0) + added;
    writes.push({ database: zoneStates, key: accountId, value: { count, changedAt } });
    writes.push(this.#environment.clockAt(changedAt));
    return writes;
  }

  #scan(accountId: string): ZonePolicy[] {
    const range = { start: [accountId], end: [accountId, LAST_ID] };
    const policies = [...this.#environment.zonePolicies.getRange(range)];
    return policies.map(({ value }) => Object.freeze(value)).sort(byCreation);
  }

  #notify(accountId: string): void {
    this.#feed.notify(accountId, this.#environment.zoneStates.get(accountId)?.changedAt ?? 0);
  }
}

interface Updated {
  readonly after: ZonePolicy | undefined;
  readonly changed: boolean;
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

function byCreation(a: ZonePolicy, b: ZonePolicy): number {
  if (a.created_on !== b.created_on) return a.created_on < b.created_on ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
