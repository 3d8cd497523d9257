/** Budgets: use of a resource per client. */
export { Budget, type BudgetLimits } from './budget.ts';
