/** The life cycle of the guard: the rule in force, and what was learned over a restart. */
export { followRules } from './followRules.ts';
export { keepMinutes, remember, storedKey } from './remember.ts';
export type { RuleSource } from './ruleSource.ts';
