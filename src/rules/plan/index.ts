/**
 * Rules as code: reads a file of rules, finds what would have to change for an account to have exactly those, shows
 * it, and does exactly that.
 */
export { applyPlan, type Step } from './applyPlan.ts';
export { formatPlan, type Paint, planAsJson } from './formatPlan.ts';
export { isEmpty, makePlan, type Plan, type PlanSubject, planFingerprint, riskOf } from './makePlan.ts';
export { formatRuleFile, readRuleFile } from './ruleFile.ts';
