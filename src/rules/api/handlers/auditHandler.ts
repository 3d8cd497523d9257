import {
  type AuditEntry,
  type AuditFilter,
  type AuditLog,
  allowedRuleId,
  auditFormatter,
  includesPermission,
  isRuleId,
  type Micros,
  parseTimestamp,
  type RuleFormat,
  type TokenChange,
  type TokenStore,
} from '../../index.ts';
import type { Caller } from '../http/authenticate.ts';
import { successEnvelope } from '../http/envelope.ts';
import { readQuery } from '../http/queryReader.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import type { GatewayKeyChange, GatewayKeys } from './keyHandlers.ts';
import { isVisibleTo } from './tokenHandlers.ts';

/** Maximum number of audit entries per page. An entry has about 1 KB. */
export const MAX_AUDIT_PAGE = 1000;
export const DEFAULT_AUDIT_PAGE = 100;

export const cursorPattern = '^[0-9a-z]{1,11}$';
const cursor = new RegExp(cursorPattern);

interface AuditDependencies {
  readonly audit: AuditLog;
  readonly tokens: Pick<TokenStore, 'list'>;
  readonly keys: Pick<GatewayKeys, 'changes'> | undefined;
  readonly format: RuleFormat;
}

/** Handles requests for the audit of an account, with the changes of tokens and API keys that the caller may read. */
export function auditHandler({ audit, tokens, keys, format }: AuditDependencies) {
  const show = auditFormatter(format);
  /** Changes of API keys that belong to a page: they are older than `highest`, and newer than `lowest`. */
  const keyChanges = async (lowest: Micros, highest: Micros): Promise<readonly GatewayKeyChange[]> => {
    const changes = keys?.changes().filter(({ at }) => {
      const moment = parseTimestamp(at);
      return moment > lowest && moment <= highest;
    });
    if (!changes?.length) return [];
    const labels = new Map((await tokens.list()).map(({ id, label }) => [id, label]));
    return changes.map((change) => {
      const label = labels.get(change.by);
      return { ...change, ...(label && { label }) };
    });
  };
  return async ({ accountId, caller, query }: ApiRequest): Promise<ApiResponse> => {
    const { filter, limit, from } = readAuditQuery(query);
    const withTokens = includesPermission(caller.permissions, 'tokens:read');
    const page = await audit.page({ account: accountId, withTokens, ...filter }, { limit, from });
    const isAllowed = (change: AuditEntry) => !('token' in change) || isTokenOf(accountId, caller, change);
    const changes: readonly Shown[] = page.entries.filter(isAllowed).map(show);
    const readsKeys =
      caller.accounts === 'all' &&
      filter.rule === undefined &&
      includesPermission(caller.permissions, 'keys:read');
    const lowest = page.next ?? (filter.since === undefined ? 0 : parseTimestamp(filter.since) - 1);
    const until = filter.until === undefined ? Number.MAX_SAFE_INTEGER : parseTimestamp(filter.until);
    const all = readsKeys
      ? [...changes, ...(await keyChanges(lowest, Math.min(from ?? until, until)))].sort(
          (one, other) => parseTimestamp(other.at) - parseTimestamp(one.at),
        )
      : changes;
    const cut = all[limit];
    const next = cut === undefined ? page.next : parseTimestamp(cut.at);
    const result = all.slice(0, limit);
    const resultInfo = {
      per_page: limit,
      count: result.length,
      ...(next !== undefined && { cursor: next.toString(36) }),
    };
    return { body: successEnvelope(result, { resultInfo }) };
  };
}

interface Shown {
  readonly at: string;
}

/** Whether a changed token is for an account, and the caller may see it. */
function isTokenOf(account: string, caller: Caller, { before, after }: TokenChange): boolean {
  const token = after ?? before;
  if (token === null || !isVisibleTo(caller, token)) return false;
  return token.accounts === 'all' || token.accounts.includes(account);
}

interface AuditQuery {
  readonly filter: Omit<AuditFilter, 'account'>;
  readonly limit: number;
  readonly from: Micros | undefined;
}

/** Parses the query parameters of the audit log. Ignores unknown ones. Throws `InvalidRule` with all faults. */
const readAuditQuery = (query: ApiRequest['query']): AuditQuery =>
  readQuery(query, (reader) => {
    const { since, until } = reader.period();
    const rule = reader.read('rule_id', allowedRuleId, (text) =>
      isRuleId(text) ? text.toLowerCase() : undefined,
    );
    const limit = reader.integer('per_page', MAX_AUDIT_PAGE) ?? DEFAULT_AUDIT_PAGE;
    const from = reader.read('cursor', 'the cursor of an earlier response', (text) =>
      cursor.test(text) ? Math.min(Number.parseInt(text, 36), Number.MAX_SAFE_INTEGER) : undefined,
    );
    return { filter: { since, until, rule }, limit, from };
  });
