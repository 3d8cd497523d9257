/** Rules, tokens and the audit on LMDB. */
export { openRulesStorage, type RulesStorage } from './openRulesStorage.ts';
export { verifyRules } from './verifyRules.ts';
