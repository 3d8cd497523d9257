/** REST API of rules, access lists, tokens and keys (rules API). Design: docs/internals/decisions/rules-api.md */

export type { AttackPageRequest, GuardReports } from './handlers/guardHandlers.ts';
export type {
  CreatedKey,
  GatewayKeyChange,
  GatewayKeys,
  GatewayKeyView,
  KeyCreation,
} from './handlers/keyHandlers.ts';
export type { RuleAnalytics } from './handlers/ruleHandlers.ts';
export { isVisibleTo, revocationFaults } from './handlers/tokenHandlers.ts';
export {
  Authenticator,
  type AuthenticatorDependencies,
  type Caller,
  LOOK_UPS,
  tokenOf,
} from './http/authenticate.ts';
export { ConsoleSessions, SESSION_LIFE_SECONDS } from './http/consoleSessions.ts';
export { ApiError, errorTable } from './http/errors.ts';
export type { RateLimit } from './http/rateLimit.ts';
export { errorSender, sendBadUrl, unroutedEnvelope } from './http/sendError.ts';
export { SessionCookies } from './http/sessionCookies.ts';
export { TokenUses } from './http/tokenUses.ts';
export { type OperatorRoute, operatorApi } from './operatorApi.ts';
export type { AlertReports } from './routes/alertRoutes.ts';
export { rulesApi } from './rulesApi.ts';
