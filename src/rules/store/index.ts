/** Store of rules, tokens and audit log: in the data folder, or in a database shared by several instances. */
export { databaseDump, openRules } from './openRules.ts';
