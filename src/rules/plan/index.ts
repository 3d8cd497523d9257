/** Rules as code: reads a rule file, plans the changes that make an account match it, and shows or applies a plan. */
export { applyPlan, type Step } from './applyPlan.ts';
export { formatPlan, type Paint, planAsJson } from './formatPlan.ts';
export { isEmpty, makePlan, type Plan, type PlanSubject, planFingerprint, riskOf } from './makePlan.ts';
export { formatRuleFile, readRuleFile } from './ruleFile.ts';
