/** Runs a guard with any data plane: applies the rule in force, seeds zones, stores counts and learned state. */

export { type Guard, type GuardDependencies, type GuardOptions, startGuard } from './guard.ts';
export { registerGuardMetrics } from './metrics.ts';
export { notReady } from './notReadyReason.ts';
export type { AccessListSource } from './watchAccessLists.ts';
export type { RuleSource } from './watchRules.ts';
