/** Rules as code: reads a file with rules and zone policies, plans the changes that make an account match it, and shows or applies a plan. */
export { applyPlan, type Step } from './applyPlan.ts';
export { formatPlan, type Paint, planAsJson } from './formatPlan.ts';
export { countChanges, isEmpty, type Plan, type PlanSubject, planFingerprint, riskOf } from './makePlan.ts';
export { planFor } from './planFor.ts';
export { formatRuleFile, readRuleFile } from './ruleFile.ts';
