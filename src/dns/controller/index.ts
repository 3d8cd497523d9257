/** Controller: guard life cycle over any data plane, with the rule in force, zones, minutes and persistence. */

export { type Guard, type GuardDependencies, type GuardOptions, startGuard } from './guard.ts';
export { registerGuardMetrics } from './metrics.ts';
export { notReady } from './notReadyReason.ts';
export type { AccessListSource } from './watchAccessLists.ts';
export type { RuleSource } from './watchRules.ts';
