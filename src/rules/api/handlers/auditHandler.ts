import {
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
  quoteText,
  type Rule,
  type RuleFormat,
} from '../../index.ts';
import { successEnvelope } from '../http/envelope.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';

/** Maximum number of audit entries per page. An entry has about 1 KB. */
export const MAX_AUDIT_PAGE = 1000;
export const DEFAULT_AUDIT_PAGE = 100;

export const cursorPattern = '^[0-9a-z]{1,11}$';
const cursor = new RegExp(cursorPattern);

export function auditHandler(audit: AuditLog, format: RuleFormat) {
  const show = changeFormatter(format);
  return async ({ accountId, query }: ApiRequest): Promise<ApiResponse> => {
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

/**
 * Returns a function that converts an audit entry to the form of the API. It returns a list with one item, or an
 * empty list for an entry without an account.
 */
export function changeFormatter(format: RuleFormat) {
  const shownRule = (rule: Rule) => format.orderMembers(format.withDefaults(rule));
  return (change: AuditEntry): readonly object[] => {
    if (!('account' in change)) return [];
    return [
      'rule' in change
        ? omitNullStates(change, shownRule)
        : omitNullStates<object, object, object>(change, (subject) => subject),
    ];
  };
}

const omitNullStates = <Subject, Shown, Rest>(
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

/** Parses the query parameters of the audit log. Ignores unknown ones. Throws `InvalidRule` with all faults. */
function readQuery(query: ApiRequest['query']): AuditQuery {
  const faults: Fault[] = [];
  const read = <T>(name: string, allowed: string, parse: (text: string) => T | undefined): T | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const value = typeof text === 'string' ? parse(text) : undefined;
    const got = typeof text === 'string' ? quoteText(text) : 'more than one value';
    if (value === undefined)
      faults.push({ pointer: pointerTo(name), message: `${name} must be ${allowed}; got ${got}` });
    return value;
  };
  const moment = 'a time such as 2026-11-20T22:10:38Z';
  const since = read('since', moment, parseMoment);
  const until = read('until', moment, parseMoment);
  const rule = read('rule_id', allowedRuleId, (text) => (isRuleId(text) ? text.toLowerCase() : undefined));
  const limit = read('per_page', `an integer from 1 to ${MAX_AUDIT_PAGE}`, parseLimit);
  const from = read('cursor', 'the cursor of an earlier response', (text) =>
    cursor.test(text) ? Math.min(Number.parseInt(text, 36), Number.MAX_SAFE_INTEGER) : undefined,
  );
  if (faults.length > 0) throw new InvalidRule(faults);
  return { filter: { since, until, rule }, limit: limit ?? DEFAULT_AUDIT_PAGE, from };
}

function parseLimit(text: string): number | undefined {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= MAX_AUDIT_PAGE ? limit : undefined;
}
