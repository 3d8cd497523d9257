import type { AccessEntry, AccessListName } from './accessList.ts';
import type { Rule } from './rule.ts';
import { formatTimestamp, type Micros } from './timestamp.ts';
import type { Token } from './tokens/token.ts';
import type { ZonePolicy } from './zonePolicy.ts';

/** Author of a change, and the address from which the author made it. */
export interface Actor {
  /** Id of the author's token. For a command on this machine: `cli:` and the name of the user. */
  readonly by: string;
  readonly label?: string;
  /** IP address of the client, or `local` for a command on this machine. */
  readonly from: string;
}

/** Token as the audit log stores it: without the hash of its secret. */
export type AuditedToken = Omit<Token, 'hash'>;

/** A record before and after a change; null before its creation and after its deletion. */
export interface States<Subject> {
  readonly before: Subject | null;
  readonly after: Subject | null;
}

interface Change<Action extends string, Subject> extends Actor, States<Subject> {
  readonly at: string;
  readonly action: Action;
}

export interface RuleChange extends Change<'rule.create' | 'rule.update' | 'rule.delete', Rule> {
  readonly account: string;
  readonly rule: string;
}

export interface TokenChange extends Change<'token.create' | 'token.revoke', AuditedToken> {
  readonly token: string;
}

export interface ListChange extends Change<'list.create' | 'list.update' | 'list.delete', AccessEntry> {
  readonly account: string;
  readonly list: AccessListName;
  readonly entry: string;
}

/** Request that all guards of an account forget what they learned about the zone of a policy. It changes no record. */
export interface ZoneForgotten extends Change<'zone.forget', never> {
  readonly account: string;
  /** Name of the zone. */
  readonly zone: string;
  /** Id of the policy. */
  readonly policy: string;
}

export interface ZoneChange extends Change<'zone.create' | 'zone.update' | 'zone.delete', ZonePolicy> {
  readonly account: string;
  /** Name of the zone. */
  readonly zone: string;
  /** Id of the policy. */
  readonly policy: string;
}

/**
 * Audit entry: a change of a rule, list entry, zone policy or token, or a request to forget a zone. A change's entry is
 * written in its transaction. No two audit entries have the same time.
 */
export type AuditEntry = RuleChange | ListChange | ZoneChange | ZoneForgotten | TokenChange;

export interface AuditFilter {
  /** If set, only changes of this account's rules, lists and zone policies match. */
  readonly account?: string | undefined;
  /** Whether all changes of tokens match too, whatever the account. */
  readonly withTokens?: boolean;
  readonly rule?: string | undefined;
  /** Earliest time of matching entries, inclusive, in the format of `formatTimestamp`. `until` is the latest time. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** One page of audit entries, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Time at which the next page starts; undefined if this is the last page. */
  readonly next: Micros | undefined;
}

export interface AuditPageRequest {
  readonly limit: number;
  /** Time at which the page starts: `next` of the previous page. Default: the newest entry. */
  readonly from?: Micros | undefined;
}

export interface AuditLog {
  /** Yields the matching audit entries in the order of the changes, or with `newestFirst` in reverse order. */
  read(filter: AuditFilter, options?: { newestFirst?: boolean }): AsyncIterable<AuditEntry>;

  /**
   * Returns a page of entries. The work for a page is limited, so a page with `next` may have fewer than `limit`
   * entries, or none.
   */
  page(filter: AuditFilter, request: AuditPageRequest): Promise<AuditPage>;

  /** Records that guards must forget a zone. Guards read such entries from the audit log. */
  addForgotten(zone: Pick<ZoneForgotten, 'account' | 'zone' | 'policy'>, actor: Actor): Promise<void>;
}

/** Returns the audit entry that {@link AuditLog.addForgotten} writes. */
export const forgottenEntry = (
  zone: Pick<ZoneForgotten, 'account' | 'zone' | 'policy'>,
  stamped: Actor & { at: string },
): ZoneForgotten => ({ ...stamped, action: 'zone.forget', ...zone, before: null, after: null });

/** Returns the members that all audit entries have: time, author and address. */
export function stamp(moment: Micros, { by, label, from }: Actor): Actor & { at: string } {
  return { at: formatTimestamp(moment), by, ...(label !== undefined && { label }), from };
}

const verbOf = ({ before, after }: States<unknown>) =>
  before === null ? 'create' : after === null ? 'delete' : 'update';

/** `ruleChange`, `listChange` and `zoneChange` return the audit entry of a change without the members of {@link stamp}. */
export function ruleChange(account: string, states: States<Rule>) {
  const { id: rule = '' } = states.after ?? states.before ?? {};
  return { action: `rule.${verbOf(states)}`, account, rule, ...states } as const;
}

export function listChange(account: string, list: AccessListName, states: States<AccessEntry>) {
  const { id: entry = '' } = states.after ?? states.before ?? {};
  return { action: `list.${verbOf(states)}`, account, list, entry, ...states } as const;
}

export function zoneChange(account: string, states: States<ZonePolicy>) {
  const { zone = '', id: policy = '' } = states.after ?? states.before ?? {};
  return { action: `zone.${verbOf(states)}`, account, zone, policy, ...states } as const;
}

export function withoutHash({ hash: _, ...rest }: Token): AuditedToken {
  return rest;
}
