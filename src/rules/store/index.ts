/** Stores of rules, access lists, zone policies, tokens and audit log: in the data folder, or in a database that instances share. */
export { databaseDump, openRules } from './openRules.ts';
