import {
  type AccessEntry,
  type AuditEntry,
  type AuditFilter,
  type AuditLog,
  allowedRuleId,
  type Fault,
  InvalidRule,
  isRuleId,
  type Micros,
  parseMoment,
  pointerTo,
  type Rule,
  type RuleFormat,
  shown,
} from '../index.ts';
import { successEnvelope } from './envelope.ts';
import type { ApiAnswer, ApiRequest } from './request.ts';

/** The largest page of the audit, and what a page has where nothing is said: an entry has some 1 KB. */
export const MAX_AUDIT_PAGE = 1000;
export const DEFAULT_AUDIT_PAGE = 100;

export const cursorPattern = '^[0-9a-z]{1,11}$';
const cursor = new RegExp(cursorPattern);

/** Makes the handler that shows an account's part of the audit, the newest change first. */
export function auditHandler(audit: AuditLog, format: RuleFormat) {
  const show = shownChange(format);
  return async ({ accountId, query }: ApiRequest): Promise<ApiAnswer> => {
    const { filter, limit, from } = readQuery(query);
    const { entries, next } = await audit.page({ account: accountId, ...filter }, { limit, from });
    const resultInfo = {
      per_page: limit,
      count: entries.length,
      ...(next !== undefined && { cursor: next.toString(36) }),
    };
    const changes = entries.flatMap(show);
    return { body: successEnvelope(changes, { resultInfo }) };
  };
}

/** Makes the function that shows an entry of the audit of an account; nothing for one of no account. */
export function shownChange(format: RuleFormat) {
  const shownRule = (rule: Rule) => format.inOrder(format.complete(rule));
  return (change: AuditEntry): readonly object[] => {
    if (!('account' in change)) return [];
    return ['rule' in change ? existing(change, shownRule) : existing(change, (entry: AccessEntry) => entry)];
  };
}

/** A change without what there is none of: nothing before a creation, nothing after a deletion. */
const existing = <Subject, Shown, Rest>(
  { before, after, ...change }: Rest & { readonly before: Subject | null; readonly after: Subject | null },
  show: (subject: Subject) => Shown,
) => ({
  ...change,
  ...(before !== null && { before: show(before) }),
  ...(after !== null && { after: show(after) }),
});

interface AuditQuery {
  readonly filter: Omit<AuditFilter, 'account'>;
  readonly limit: number;
  readonly from: Micros | undefined;
}

/** Throws `InvalidRule` with every fault. Parameters that it does not know are ignored. */
function readQuery(query: ApiRequest['query']): AuditQuery {
  const faults: Fault[] = [];
  const read = <T>(name: string, allowed: string, parse: (text: string) => T | undefined): T | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const value = typeof text === 'string' ? parse(text) : undefined;
    const got = typeof text === 'string' ? shown(text) : 'more than one value';
    if (value === undefined)
      faults.push({ pointer: pointerTo(name), message: `${name} must be ${allowed}; got ${got}` });
    return value;
  };
  const moment = 'a time such as 2026-11-20T22:10:38Z';
  const since = read('since', moment, parseMoment);
  const until = read('until', moment, parseMoment);
  const rule = read('rule_id', allowedRuleId, (text) => (isRuleId(text) ? text.toLowerCase() : undefined));
  const limit = read('per_page', `an integer from 1 to ${MAX_AUDIT_PAGE}`, parseLimit);
  const from = read('cursor', 'the cursor of an earlier answer', (text) =>
    cursor.test(text) ? Math.min(Number.parseInt(text, 36), Number.MAX_SAFE_INTEGER) : undefined,
  );
  if (faults.length > 0) throw new InvalidRule(faults);
  return { filter: { since, until, rule }, limit: limit ?? DEFAULT_AUDIT_PAGE, from };
}

function parseLimit(text: string): number | undefined {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= MAX_AUDIT_PAGE ? limit : undefined;
}
