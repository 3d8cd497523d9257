/** Stores of rules, access lists, zone policies, tokens and audit log in a PostgreSQL database that several instances share. */
export { openPostgresRules, type PostgresRulesOptions } from './openPostgresRules.ts';
export { rulesDump } from './rulesDump.ts';
