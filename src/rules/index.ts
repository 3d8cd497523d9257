/**
 * The rules room: what a DNS protection rule is, what may be sent for one, which rule applies where, and the ports
 * through which rules, tokens and the audit are kept. No I/O, no framework.
 */
export {
  type AccessEntry,
  type AccessListName,
  accessLists,
  checkEntryPatch,
  checkNewEntry,
  type EntrySettings,
  entryPatchSchema,
  MAX_ENTRIES_PER_LIST,
  type NewAccessEntry,
  nameEntrySchema,
  networkEntrySchema,
  newNameEntrySchema,
  newNetworkEntrySchema,
} from './accessList.ts';
export type { AccessListKey, AccessListStore } from './accessListStore.ts';
export {
  type Actor,
  type AuditEntry,
  type AuditFilter,
  type AuditLog,
  type AuditPage,
  type AuditPageRequest,
  type ListChange,
  type RuleChange,
  stamp,
  type TokenChange,
  withoutHash,
} from './audit.ts';
export { effectiveRule, type Place } from './effectiveRule.ts';
export { fieldTable } from './fieldTable.ts';
export { describeValue, type Fault, InvalidRule, pointerTo, shown } from './invalidRule.ts';
export {
  checkNewToken,
  futureCheck,
  labelSchema,
  listCheck,
  newTokenSchema,
  permissionSchema,
  type TokenRequest,
} from './newToken.ts';
export { ObjectChecker, plainObject } from './objectChecker.ts';
export {
  exampleRule,
  MAX_RULES_PER_ACCOUNT,
  type NewRule,
  type ProfileSensitivity,
  type Rule,
  type RuleSettings,
  type Sensitivity,
} from './rule.ts';
export { type RuleField, RuleFormat, ruleFormat } from './ruleFormat.ts';
export { allowedRuleId, isRuleId, ruleIdPattern } from './ruleId.ts';
export { profileSensitivities, ruleSchema, sensitivities } from './ruleSchema.ts';
export {
  type CreatedRule,
  RETRY_KEY_LIFE_MS,
  type RuleCreation,
  type RuleDeletion,
  type RuleStore,
  type RuleUpdate,
} from './ruleStore.ts';
export type { RulesStorage } from './rulesStorage.ts';
export type { SharedDatabase, SharedRecords } from './sharedDatabase.ts';
export { Snapshots } from './snapshots.ts';
export {
  BadStoreAddress,
  KeyReused,
  OutcomeUnknown,
  StoreUnavailable,
  TooManyEntries,
  TooManyRules,
  TooManyTokens,
} from './storeErrors.ts';
export { targetOf } from './target.ts';
export {
  formatTimestamp,
  type Micros,
  parseMoment,
  parseTimestamp,
  timestampOfMillis,
  wallClock,
} from './timestamp.ts';
export {
  accountIdPattern,
  allowedAccountId,
  isAccountId,
  isTokenId,
  isValidAt,
  MAX_VALID_TOKENS,
  type NewToken,
  operatorPermissions,
  ordinaryPermissions,
  type Permission,
  permissions,
  type Token,
} from './token.ts';
export { beyondGrant, grants } from './tokenGrant.ts';
export { hashSecret, newTokenSecret, SECRET_SEED_BYTES, tokenSecretOf } from './tokenSecret.ts';
export type { TokenStore } from './tokenStore.ts';
export {
  type AccountRecord,
  type RecordKind,
  StoreNotEmpty,
  type StoreRecord,
  StoreSummary,
  type WholeStore,
} from './wholeStore.ts';
