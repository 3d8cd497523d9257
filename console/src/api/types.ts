/** The names by which the console calls what the OpenAPI document describes; `node scripts/consoleTypes.js` writes schema.d.ts. */
import type { components } from './schema.d.ts';

export type Schemas = components['schemas'];
export type Rule = Schemas['Rule'];
export type RuleCreation = Schemas['RuleCreation'];
export type RulePatch = Schemas['RulePatch'];
export type RuleChange = Schemas['RuleChange'];
export type GuardStatus = Schemas['GuardStatus'];
export type AttackSummary = Schemas['AttackSummary'];
export type FleetInstance = Schemas['FleetInstance'];
export type Attack = Schemas['Attack'];
export type HeavyHitter = Schemas['HeavyHitter'];
