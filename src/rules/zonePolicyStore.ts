import type { Actor } from './audit.ts';
import type { AuditedRecords, Created, Creation, Deletion, Update } from './auditedRecords.ts';
import type { ZonePolicyChanges } from './format/zonePolicyFormat.ts';
import type { ZonePolicy, ZonePolicySettings } from './zonePolicy.ts';

/** Store of zone policies. Its durability, audit entries and errors are as in `RuleStore`. */
export interface ZonePolicyStore {
  /**
   * Returns the policies of an account as a frozen array, ordered by `created_on`, then `id`. Returns the same array
   * until a policy of the account changes.
   */
  list(accountId: string): Promise<readonly ZonePolicy[]>;

  get(accountId: string, id: string): Promise<ZonePolicy | undefined>;

  /**
   * Throws `ZoneHasPolicy` if the account has a policy for the zone, `TooManyZonePolicies` at the account's limit,
   * and `KeyReused` if the retry key was used for another creation.
   */
  create(accountId: string, policy: ZonePolicySettings, creation: Creation): Promise<CreatedZonePolicy>;

  /**
   * Passes the stored policy to `decide` and applies the settings that it returns, in one transaction. If `decide`
   * throws, nothing is written and the error is rethrown.
   */
  update(
    accountId: string,
    id: string,
    update: Update<ZonePolicy, ZonePolicyChanges>,
  ): Promise<ZonePolicy | undefined>;

  /** Deletes a policy unless `check` throws for it. Returns false if the policy does not exist. */
  delete(accountId: string, id: string, deletion: Deletion<ZonePolicy>): Promise<boolean>;

  /** Deletes all policies of an account. Returns the number of deleted policies. */
  deleteAll(accountId: string, actor: Actor): Promise<number>;

  /** Calls the listener with an account's id after each change of its policies, as `RuleStore.onChange` does. */
  onChange(listener: (accountId: string) => void): () => void;
}

export interface CreatedZonePolicy extends Pick<Created<ZonePolicy>, 'replayed'> {
  readonly policy: ZonePolicy;
}

export const zonePolicyStoreOf = (
  records: AuditedRecords<ZonePolicy, ZonePolicySettings>,
): ZonePolicyStore => ({
  list: (account) => records.list([account]),
  get: (account, id) => records.get([account], id),
  async create(account, fields, creation) {
    const { item: policy, replayed } = await records.create([account], fields, creation);
    return { policy, replayed };
  },
  update: (account, id, update) => records.update([account], id, update),
  delete: (account, id, deletion) => records.delete([account], id, deletion),
  deleteAll: (account, actor) => records.deleteAll([account], actor),
  onChange: (listener) => records.onChange(listener),
});
