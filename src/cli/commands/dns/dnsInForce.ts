import type { Analytics } from '../../../dns/analytics/index.ts';
import type { RulesClient } from '../../../rules/client/index.ts';
import type { Rule } from '../../../rules/index.ts';
import { OperatorError } from '../../operatorError.ts';

export interface InForce {
  readonly rule: Rule;
  readonly analytics: Analytics & Required<Pick<Analytics, 'now'>>;
}

/** Returns the rule in force at the server's guard, with its analytics. Throws `OperatorError` if there is none. */
export async function findInForce(
  client: RulesClient,
  query: Readonly<Record<string, string>> = {},
): Promise<InForce> {
  const rules = await client.rules.list();
  for (const rule of rules) {
    const analytics = readAnalytics(await client.analytics(rule.id, query));
    if (analytics.now.in_force) return { rule, analytics };
  }
  throw new OperatorError(
    rules.length === 0
      ? 'The account has no rule: every query passes unless it is denied. `floodgate rules create` creates one'
      : 'No rule of the account applies at the location of the guard: every query passes unless it is denied',
  );
}

/** Checks that a response contains the members that only a Floodgate server with a guard returns. */
function readAnalytics(value: unknown): InForce['analytics'] {
  if (typeof value === 'object' && value !== null && 'now' in value && 'totals' in value)
    return value as InForce['analytics']; // identified by its members
  throw new OperatorError('The server has no analytics: it runs no DNS guard, or it is not Floodgate');
}
