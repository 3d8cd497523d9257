/** Rules, tokens and the audit on LMDB. */
export { openRulesStorage } from './openRulesStorage.ts';
export { verifyRules } from './verifyRules.ts';
export { assertFinished, unfinishedFile, WholeRules } from './wholeRules.ts';
