import { type CreatedRule, isRuleId, type Rule, type RuleFormat, type RuleStore } from '../../index.ts';
import { successEnvelope } from '../http/envelope.ts';
import { ApiError } from '../http/errors.ts';
import {
  checkCollectionIfMatch,
  checkIfMatch,
  etagOf,
  etagOfBody,
  matchesIfNoneMatch,
} from '../http/etag.ts';
import { pageOf, readPageRequest } from '../http/paging.ts';
import { parseBody } from '../http/parseBody.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import { readRetryKey } from './retryKey.ts';

type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/**
 * Returns how the guards enforced a rule. Rejects with `InvalidRule` if the query's `since` or `until` is invalid.
 */
export type RuleAnalytics = (
  asked: { readonly account: string; readonly ruleId: string },
  query: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

export interface RuleHandlers {
  /** Returns the ETag of an account's complete list of rules, as `list` sends it. */
  readonly tag: (accountId: string) => Promise<string>;
  readonly list: Handler;
  readonly create: Handler;
  readonly read: Handler;
  readonly update: Handler;
  readonly remove: Handler;
  readonly removeAll: Handler;
  /** Handler of a rule's statistics; undefined if no guard runs in this server. */
  readonly analytics?: Handler;
}

/** Code of the message that lists older rules with the target of a new rule. */
const OVERRIDES_CODE = 10110;
const MAX_IDS_LISTED = 5;

export interface RuleHandlersOptions {
  readonly format: RuleFormat;
  readonly store: RuleStore;
  readonly analytics: RuleAnalytics | undefined;
}

export function ruleHandlers({ format, store, analytics }: RuleHandlersOptions): RuleHandlers {
  // Response bodies with all rules of an account, by the array of rules that the store returned. A body is cached
  // while the store keeps that array.
  const wholeLists = new WeakMap<readonly Rule[], TaggedBody>();

  const listEnvelope = (rules: readonly Rule[], query: ApiRequest['query']): string => {
    const { result, resultInfo } = pageOf(rules, readPageRequest(query));
    // The members of each rule are put in order, so that the order does not depend on the store.
    return successEnvelope(
      result.map((rule) => format.orderMembers(rule)),
      { resultInfo },
    );
  };
  const ruleAnswer = (rule: Rule, created?: Omit<CreatedRule, 'rule'>): ApiResponse => {
    const messages = created && created.overrides.length > 0 ? [overridesMessage(created.overrides)] : [];
    const headers: Record<string, string> = { etag: etagOf(rule) };
    if (created?.replayed) headers['idempotent-replayed'] = 'true';
    return { body: successEnvelope(format.orderMembers(rule), { messages }), headers };
  };

  const wholeList = (rules: readonly Rule[]): TaggedBody => {
    const list = wholeLists.get(rules) ?? tagged(listEnvelope(rules, {}));
    wholeLists.set(rules, list);
    return list;
  };

  return {
    tag: async (accountId) => wholeList(await store.list(accountId)).etag,

    async list({ accountId, query, headers }) {
      const rules = await store.list(accountId);
      const isWhole = Object.keys(query).length === 0;
      const { body, etag } = isWhole ? wholeList(rules) : tagged(listEnvelope(rules, query));
      return { body, headers: { etag }, isNotModified: matchesIfNoneMatch(headers['if-none-match'], etag) };
    },

    async create({ accountId, body, headers, actor }) {
      const retryKey = readRetryKey(headers['idempotency-key']);
      const rule = format.checkNewRule(parseBody(body));
      const created = await store.create(accountId, rule, { actor, retryKey });
      return ruleAnswer(created.rule, created);
    },

    async read(request) {
      const rule = await storedRule(store, request);
      const isKnown = matchesIfNoneMatch(request.headers['if-none-match'], etagOf(rule));
      return { ...ruleAnswer(rule), isNotModified: isKnown };
    },

    async update(request) {
      const stored = await storedRule(store, request);
      const body = parseBody(request.body);
      const decide = (rule: Rule) => {
        const changes = format.checkRulePatch(rule, body);
        checkIfMatch(request.headers['if-match'], rule);
        return changes;
      };
      // The change is first checked without the store's write lock, so that an invalid or empty change never waits
      // for that lock.
      if (Object.keys(decide(stored)).length === 0) return ruleAnswer(stored);
      const rule = await store.update(request.accountId, stored.id, { decide, actor: request.actor });
      if (!rule) throw notFound(request);
      return ruleAnswer(rule);
    },

    async remove(request) {
      const { id } = await storedRule(store, request);
      const check = (rule: Rule) => checkIfMatch(request.headers['if-match'], rule);
      if (!(await store.delete(request.accountId, id, { check, actor: request.actor })))
        throw notFound(request);
      return { body: successEnvelope() };
    },

    async removeAll({ accountId, headers, actor }) {
      checkCollectionIfMatch(headers['if-match']);
      await store.deleteAll(accountId, actor);
      return { body: successEnvelope() };
    },

    ...(analytics && {
      async analytics(request: ApiRequest) {
        const { id } = await storedRule(store, request);
        const asked = { account: request.accountId, ruleId: id };
        return { body: successEnvelope(await analytics(asked, request.query)) };
      },
    }),
  };
}

interface TaggedBody {
  readonly body: Buffer;
  readonly etag: string;
}

function tagged(text: string): TaggedBody {
  const body = Buffer.from(text);
  return { body, etag: etagOfBody(body) };
}

function overridesMessage(ids: readonly string[]) {
  const listed = ids.slice(0, MAX_IDS_LISTED).join(', ');
  const more = ids.length > MAX_IDS_LISTED ? ` and ${ids.length - MAX_IDS_LISTED} more` : '';
  return {
    code: OVERRIDES_CODE,
    message: `Other rules have the same target: ${listed}${more}. The rule modified last is in force, which is now this one`,
  };
}

async function storedRule(store: RuleStore, request: ApiRequest): Promise<Rule> {
  const { accountId, ruleId } = request;
  const rule = isRuleId(ruleId) ? await store.get(accountId, ruleId.toLowerCase()) : undefined;
  if (!rule) throw notFound(request);
  return rule;
}

/** Maximum number of characters of a request path that an error message quotes. */
const MAX_PATH_CHARACTERS = 256;

/** Returns the error for a request whose path contains an unknown id. */
export function notFound({ path }: { path: string }): ApiError {
  const shown = path.slice(0, MAX_PATH_CHARACTERS);
  return new ApiError('notFound', {
    message: `Could not route to ${shown}, perhaps your object identifier is invalid?`,
  });
}
