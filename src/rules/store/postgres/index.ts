/** Rules, tokens and audit log in PostgreSQL, shared by several instances. */
export { openPostgresRules, type PostgresRulesOptions } from './openPostgresRules.ts';
export { rulesDump } from './rulesDump.ts';
