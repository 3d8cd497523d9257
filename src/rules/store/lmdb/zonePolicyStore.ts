import {
  type Actor,
  type CreatedZonePolicy,
  MAX_ZONE_POLICIES,
  TooManyZonePolicies,
  ZoneHasPolicy,
  type ZonePolicy,
  type ZonePolicyCreation,
  type ZonePolicyDeletion,
  type ZonePolicySettings,
  type ZonePolicyStore,
  type ZonePolicyUpdate,
  zoneChange,
} from '../../index.ts';
import { AuditedRecords } from './auditedRecords.ts';
import type { AccountCount, RulesEnvironment } from './environment.ts';

/** Zone policies in LMDB, keyed by account and id, with an index by account and zone. */
export class LmdbZonePolicyStore implements ZonePolicyStore {
  readonly #environment: RulesEnvironment;
  readonly #records: AuditedRecords<ZonePolicy, ZonePolicySettings, AccountCount>;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
    const { zonePolicies: records, zoneStates: states, zoneIds } = environment;
    this.#records = new AuditedRecords(environment, {
      ...{ records, states },
      stateOf: (_, before, added) => ({ count: (before?.count ?? 0) + added }),
      changeOf: ([account], policy) => zoneChange(account, policy),
      indexOf: (account, { zone, id }) => ({ database: zoneIds, key: [account, zone], value: id }),
    });
  }

  async list(accountId: string): Promise<readonly ZonePolicy[]> {
    return this.#records.list(accountId);
  }

  async get(accountId: string, id: string): Promise<ZonePolicy | undefined> {
    return this.#records.get([accountId], id);
  }

  async create(
    accountId: string,
    fields: ZonePolicySettings,
    creation: ZonePolicyCreation,
  ): Promise<CreatedZonePolicy> {
    const { zoneIds, zoneStates } = this.#environment;
    const check = (): string[] => {
      const taken = zoneIds.get([accountId, fields.zone]);
      if (taken !== undefined) throw new ZoneHasPolicy(fields.zone, taken);
      if ((zoneStates.get(accountId)?.count ?? 0) >= MAX_ZONE_POLICIES)
        throw new TooManyZonePolicies(accountId, MAX_ZONE_POLICIES);
      return [];
    };
    const { item, replayed } = await this.#records.create([accountId], fields, { ...creation, check });
    return { policy: item, replayed };
  }

  update(accountId: string, id: string, change: ZonePolicyUpdate): Promise<ZonePolicy | undefined> {
    return this.#records.update([accountId], id, change);
  }

  delete(accountId: string, id: string, change: ZonePolicyDeletion): Promise<boolean> {
    return this.#records.delete([accountId], id, change);
  }

  deleteAll(accountId: string, actor: Actor): Promise<number> {
    return this.#records.deleteAll([accountId], actor);
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#records.onChange(listener);
  }

  close(): void {
    this.#records.close();
  }
}
