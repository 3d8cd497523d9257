/** Short names for the schemas of the OpenAPI document. `node scripts/consoleTypes.js` generates schema.d.ts. */
import type { components } from './schema.d.ts';

export type Schemas = components['schemas'];
export type Rule = Schemas['Rule'];
export type RuleCreation = Schemas['RuleCreation'];
export type RulePatch = Schemas['RulePatch'];
export type GuardStatus = Schemas['GuardStatus'];
export type AttackSummary = Schemas['AttackSummary'];
export type FleetInstance = Schemas['FleetInstance'];
export type Attack = Schemas['Attack'];
export type HeavyHitter = Schemas['HeavyHitter'];
