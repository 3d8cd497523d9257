/** Attacks as they are told of: which zone, since when, how large, who is refused and for what, and whether users are unharmed. */
export {
  type Attack,
  type AttackChange,
  type AttackSummary,
  type MetRule,
  ruleMet,
  summaryOf,
  toldAttack,
} from './attack.ts';
export { type AttackEvent, AttackLog } from './attackLog.ts';
export { type AttackQuery, type AttackStore, KEPT_DAYS } from './attackStore.ts';
