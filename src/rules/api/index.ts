/**
 * The REST interface of the rules room: routes, bearer tokens, the envelope and its table of errors. It answers
 * everything below its prefix itself, in its own form, and leaves nothing to the framework's defaults. Why it is as it is: docs/decisions/rules-api.md.
 */
export { errorTable } from './errors.ts';
export type { AttackPageRequest, GuardReports } from './guardHandlers.ts';
export type { CreatedKey, GatewayKeys, KeyCreation, ShownKey } from './keyHandlers.ts';
export { type OperatorRoute, operatorApi } from './operatorApi.ts';
export type { RateLimit } from './rateLimit.ts';
export type { RuleAnalytics } from './ruleHandlers.ts';
export { rulesApi } from './rulesApi.ts';
export { sendBadUrl, unroutedEnvelope } from './sendError.ts';
export { type TakenRequests, TokenUses } from './tokenUses.ts';
