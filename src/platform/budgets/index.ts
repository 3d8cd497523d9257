/** Budgets: limits on the use of a resource, per client and in total. */
export {
  accountsOf,
  Budget,
  type BudgetBound,
  type BudgetClient,
  type BudgetLimits,
  clientName,
  type Excess,
} from './budget.ts';
export { RemoteSlots } from './remoteSlots.ts';
export { Slots } from './slots.ts';
