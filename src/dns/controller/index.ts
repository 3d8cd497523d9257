/** The controller: one life cycle of the guard, over any data plane. Rule in force, zones, minutes, and what is kept over a restart. */

export type { AccessListSource } from './followAccessLists.ts';
export type { RuleSource } from './followRules.ts';
export { type Guard, type GuardDependencies, type GuardOptions, startGuard } from './guard.ts';
export { registerGuardMetrics } from './metrics.ts';
export { notReady } from './notReady.ts';
