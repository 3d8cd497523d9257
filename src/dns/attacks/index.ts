/** Records and reports attacks: zones, start, rates, limited clients and names, and whether users are affected. */
export {
  type Attack,
  type AttackChange,
  type AttackRule,
  type AttackSummary,
  attackRuleOf,
  reportedAttack,
  summaryOf,
} from './attack.ts';
export { type AttackEvent, AttackLog } from './attackLog.ts';
export { type AttackQuery, type AttackStore, RETENTION_DAYS } from './attackStore.ts';
export { networkOf } from './limitedTop.ts';
