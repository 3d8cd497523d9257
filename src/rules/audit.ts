import type { AccessEntry, AccessListName } from './accessList.ts';
import type { Rule } from './rule.ts';
import { formatTimestamp, type Micros } from './timestamp.ts';
import type { Token } from './token.ts';

/** Who changes something, and from where. */
export interface Actor {
  /** The id of the token, or `cli:` and the user's name for a command on the machine itself. */
  readonly by: string;
  /** What the operator called the token, where it has a label. */
  readonly label?: string;
  /** The address of the client, or `local`. */
  readonly from: string;
}

/** A token as the audit shows it: without its hash. */
export type AuditedToken = Omit<Token, 'hash'>;

interface Change<Action extends string, Subject> extends Actor {
  readonly at: string;
  readonly action: Action;
  readonly before: Subject | null;
  readonly after: Subject | null;
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

/** One change of a rule, list or token, written in the same transaction as the change. Moments differ between any two. */
export type AuditEntry = RuleChange | ListChange | TokenChange;

export interface AuditFilter {
  /** Only changes of this account's rules and lists. */
  readonly account?: string | undefined;
  readonly rule?: string | undefined;
  /** Inclusive bounds, as `formatTimestamp` writes them. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Some entries of the audit, the newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Where the next page begins; undefined where nothing older is left. */
  readonly next: Micros | undefined;
}

export interface AuditPageRequest {
  /** Most entries of the page. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly from?: Micros | undefined;
}

/** Reads what was changed. */
export interface AuditLog {
  /** Entries in the order in which the changes were made; `newestFirst` turns it around. */
  read(filter: AuditFilter, options?: { newestFirst?: boolean }): AsyncIterable<AuditEntry>;

  /**
   * A page of them, after a bounded amount of work: where few of very many entries match it ends early, with fewer entries
   * than it may have, or none, and `next` all the same.
   */
  page(filter: AuditFilter, request: AuditPageRequest): Promise<AuditPage>;
}

/** The members that every entry has. */
export function stamp(moment: Micros, { by, label, from }: Actor): Actor & { at: string } {
  return { at: formatTimestamp(moment), by, ...(label !== undefined && { label }), from };
}

export function withoutHash({ hash: _, ...rest }: Token): AuditedToken {
  return rest;
}
