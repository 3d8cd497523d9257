import type { AccessEntry, AccessListName } from './accessList.ts';
import type { Rule } from './rule.ts';
import { formatTimestamp, type Micros } from './timestamp.ts';
import type { Token } from './tokens/token.ts';

/** Author of a change and the address it came from. */
export interface Actor {
  /** Token id, or `cli:` and the user's name for a command on this machine. */
  readonly by: string;
  readonly label?: string;
  /** Address of the client, or `local`. */
  readonly from: string;
}

/** Token as the audit log shows it: without its hash. */
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

/** Change of a rule, list or token, written in the same transaction as the change. No two entries have the same time. */
export type AuditEntry = RuleChange | ListChange | TokenChange;

export interface AuditFilter {
  /** Only changes of this account's rules and lists. */
  readonly account?: string | undefined;
  readonly rule?: string | undefined;
  /** Inclusive, formatted by `formatTimestamp`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Page of audit entries, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Position of the next page; undefined if this is the last page. */
  readonly next: Micros | undefined;
}

export interface AuditPageRequest {
  readonly limit: number;
  /** `next` of the previous page. */
  readonly from?: Micros | undefined;
}

export interface AuditLog {
  /** Yields entries in the order of the changes; `newestFirst` reverses the order. */
  read(filter: AuditFilter, options?: { newestFirst?: boolean }): AsyncIterable<AuditEntry>;

  /** Returns a page after bounded work. It may have fewer than `limit` entries, or none, and still have `next`. */
  page(filter: AuditFilter, request: AuditPageRequest): Promise<AuditPage>;
}

/** Returns the members that all audit entries share. */
export function stamp(moment: Micros, { by, label, from }: Actor): Actor & { at: string } {
  return { at: formatTimestamp(moment), by, ...(label !== undefined && { label }), from };
}

export function withoutHash({ hash: _, ...rest }: Token): AuditedToken {
  return rest;
}
