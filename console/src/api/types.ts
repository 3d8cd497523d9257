/** Types of the REST API: those of the server's own schemas, as its OpenAPI document names them. */
import type { Static } from 'typebox';
import type { namedSchemas } from '../../../src/rules/api/document/envelopeSchemas.ts';
import type { ruleSchema } from '../../../src/rules/index.ts';

/** The server derives its schemas of rules at run time from `ruleSchema`. */
type Named = Omit<ReturnType<typeof namedSchemas>, 'Rule'> & { readonly Rule: typeof ruleSchema };
type References = { [Name in keyof Named as `#/components/schemas/${Name}`]: Named[Name] };
export type Schemas = { [Name in keyof Named]: Static<Named[Name], References> };

export type { Analytics, Counts } from '../../../src/dns/analytics/index.ts';
export type {
  AccessEntry,
  AccessListName,
  NewRule,
  Rule,
  RuleSettings,
  ZonePolicy,
  ZonePolicyChanges,
} from '../../../src/rules/index.ts';
export type GuardStatus = Schemas['GuardStatus'];
export type AttackSummary = Schemas['AttackSummary'];
export type FleetInstance = Schemas['FleetInstance'];
export type Attack = Schemas['Attack'];
export type HeavyHitter = Schemas['HeavyHitter'];
export type ZoneAssessment = Schemas['ZoneAssessment'];
export type ApiToken = Schemas['ApiToken'];
export type GatewayKey = Schemas['GatewayKey'];
export type Change = Schemas[
  | 'RuleChange'
  | 'ListChange'
  | 'ZoneChange'
  | 'ZoneForgotten'
  | 'TokenChange'
  | 'KeyChange'];
