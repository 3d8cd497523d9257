/** Stores of rules, access lists, zone policies, tokens and audit log in LMDB. */
export { openRulesStorage } from './openRulesStorage.ts';
export { readRules, writeRules } from './rulesDump.ts';
export { verifyRules } from './verifyRules.ts';
