/** DNS protection rules: types, validation, and interfaces of their stores. Does no I/O and imports no framework. */
export {
  type AccessEntry,
  type AccessListName,
  accessLists,
  checkEntryPatch,
  checkNewEntry,
  entryPatchSchema,
  MAX_ENTRIES_PER_LIST,
  type NewAccessEntry,
  nameEntrySchema,
  networkEntrySchema,
  newNameEntrySchema,
  newNetworkEntrySchema,
} from './accessList.ts';
export {
  type Actor,
  type AuditEntry,
  type AuditedToken,
  type AuditFilter,
  type AuditLog,
  type AuditPage,
  type AuditPageRequest,
  forgottenEntry,
  listChange,
  ruleChange,
  type States,
  stamp,
  type TokenChange,
  withoutHash,
  type ZoneForgotten,
  zoneChange,
} from './audit.ts';
export { type AuditView, auditFormatter } from './auditView.ts';
export { effectiveRule, type GuardLocation } from './effectiveRule.ts';
export { fieldTable } from './format/fieldTable.ts';
export { ObjectChecker, plainObject } from './format/objectChecker.ts';
export { type RuleField, RuleFormat, ruleFormat } from './format/ruleFormat.ts';
export { allowedLocation, isLocationName, MAX_NAME_CHARACTERS } from './format/ruleName.ts';
export { profileSensitivities, ruleSchema, sensitivities } from './format/ruleSchema.ts';
export { BadZoneError, canonicalZone, MAX_ZONE_CHARACTERS } from './format/zoneName.ts';
export {
  checkNewZonePolicy,
  checkZonePolicyPatch,
  newZonePolicySchema,
  readZonePolicy,
  settingsOf,
  shortSettingsOf,
  type ZonePolicyChanges,
  type ZonePolicyField,
  zonePolicyChanges,
  zonePolicyFields,
  zonePolicyPatchSchema,
  zonePolicySchema,
} from './format/zonePolicyFormat.ts';
export { describeValue, type Fault, InvalidRule, periodFaults, pointerTo, quoteText } from './invalidRule.ts';
export {
  type AccessListStore,
  type AuditedRecords,
  type Created,
  type Creation,
  type Deletion,
  type IdempotencyRecord,
  type Identified,
  RETRY_KEY_LIFE_MS,
  type RecordStore,
  type RuleStore,
  recordStoresOf,
  type Scope,
  type Update,
  type ZonePolicyStore,
} from './recordStore.ts';
export {
  exampleRule,
  MAX_RULES_PER_ACCOUNT,
  type NewRule,
  type ProfileSensitivity,
  type Rule,
  type RuleSettings,
  type Sensitivity,
} from './rule.ts';
export { allowedRuleId, isRuleId } from './ruleId.ts';
export type { RulesStorage } from './rulesStorage.ts';
export type { SharedDatabase, SharedRecords } from './sharedDatabase.ts';
export { SnapshotCache } from './snapshotCache.ts';
export {
  type Batch,
  type Batches,
  type StoreDump,
  StoreNotEmpty,
  type StoreRows,
} from './storeDump.ts';
export {
  BadStoreAddress,
  CreatorEnded,
  KeyReused,
  OutcomeUnknown,
  StoreUnavailable,
  TooManyEntries,
  TooManyRules,
  TooManyTokens,
  TooManyZonePolicies,
  ZoneHasPolicy,
} from './storeErrors.ts';
export { targetOf } from './target.ts';
export {
  boundedTimestamp,
  formatTimestamp,
  type Micros,
  parseMoment,
  parseTimestamp,
  timestampOfMillis,
  wallClock,
} from './timestamp.ts';
export {
  checkNewToken,
  futureCheck,
  labelSchema,
  listCheck,
  newTokenSchema,
  permissionSchema,
  type TokenRequest,
} from './tokens/newToken.ts';
export { displacedBy, type Session, type SessionStore, seal, unseal } from './tokens/session.ts';
export {
  accountIdPattern,
  allowedAccountId,
  isAccountId,
  isTokenId,
  isValidAt,
  type NewToken,
  operatorPermissions,
  ordinaryPermissions,
  type Permission,
  permissions,
  type Token,
} from './tokens/token.ts';
export { grantViolations, includesPermission } from './tokens/tokenGrant.ts';
export {
  configuredTokenId,
  hashSecret,
  newTokenSecret,
  SECRET_SEED_BYTES,
  tokenSecretOf,
} from './tokens/tokenSecret.ts';
export type { RevokedTokens, TokenStore } from './tokens/tokenStore.ts';
export {
  checkTokenLimits,
  displacedTokens,
  MAX_ENDED_TOKENS,
  MAX_VALID_FOR_TENANTS,
  MAX_VALID_IN_TREE,
  MAX_VALID_TOKENS,
  rootOf,
  tokenBy,
  type ValidTokens,
  validDescendants,
} from './tokens/tokenTree.ts';
export { type TokenView, tokenView } from './tokens/tokenView.ts';
export { MAX_ZONE_POLICIES, type ZonePolicy, type ZonePolicySettings } from './zonePolicy.ts';
