/** Where rules, tokens and the audit are kept, as it is configured: in the data folder, or in a database that instances share. */
export { openRules, openWholeDatabase } from './openRules.ts';
