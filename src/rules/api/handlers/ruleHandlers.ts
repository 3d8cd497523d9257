import type { RuleFormat, RuleStore } from '../../index.ts';
import { successEnvelope } from '../http/envelope.ts';
import { pageOf, readPageRequest, ruleOrders } from '../http/paging.ts';
import type { ApiRequest } from '../http/request.ts';
import {
  collectionHandlers,
  type Handler,
  storedItem,
  type TaggedCollectionHandlers,
} from './collectionHandlers.ts';
import { retryKeyOf } from './retryKey.ts';

/**
 * Returns how the guards enforced a rule. Rejects with `InvalidRule` if the query's `since` or `until` is invalid.
 */
export type RuleAnalytics = (
  asked: { readonly account: string; readonly ruleId: string },
  query: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

export interface RuleHandlers extends TaggedCollectionHandlers {
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
  const rules = {
    store,
    keyOf: (accountId: string) => accountId,
    idOf: ({ ruleId }: ApiRequest) => ruleId,
  };
  return {
    ...collectionHandlers({
      ...rules,
      retryKeyOf,
      page: (all, query) => pageOf(all, readPageRequest(query, ruleOrders)),
      // The members of each rule are put in order, so that the order does not depend on the store.
      show: (rule) => format.orderMembers(rule),
      checkNew: (body) => format.checkNewRule(body),
      checkPatch: (rule, body) => format.checkRulePatch(rule, body),
      messagesOf: ({ overrides }) => (overrides.length > 0 ? [overridesMessage(overrides)] : []),
    }),
    ...(analytics && {
      async analytics(request: ApiRequest) {
        const { id } = await storedItem(rules, request);
        const asked = { account: request.accountId, ruleId: id };
        return { body: successEnvelope(await analytics(asked, request.query)) };
      },
    }),
  };
}

function overridesMessage(ids: readonly string[]) {
  const listed = ids.slice(0, MAX_IDS_LISTED).join(', ');
  const more = ids.length > MAX_IDS_LISTED ? ` and ${ids.length - MAX_IDS_LISTED} more` : '';
  return {
    code: OVERRIDES_CODE,
    message: `Other rules have the same target: ${listed}${more}. The rule modified last is in force, which is now this one`,
  };
}
