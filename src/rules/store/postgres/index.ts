/** Rules, tokens and the audit on PostgreSQL, for instances that share them. */
export { openPostgresRules, type PostgresRulesOptions } from './openPostgresRules.ts';
export { openWholeRules } from './wholeRules.ts';
