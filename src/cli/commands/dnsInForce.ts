import type { Analytics } from '../../dns/analytics/index.ts';
import type { RulesClient } from '../../rules/client/index.ts';
import type { Rule } from '../../rules/index.ts';
import { OperatorError } from '../operatorError.ts';

export interface InForce {
  readonly rule: Rule;
  readonly analytics: Analytics & Required<Pick<Analytics, 'now'>>;
}

/** The rule in force at the guard of the server, with its analytics. Throws `OperatorError` where there is none. */
export async function findInForce(
  client: RulesClient,
  query: Readonly<Record<string, string>> = {},
): Promise<InForce> {
  const rules = await client.list();
  for (const rule of rules) {
    const analytics = readAnalytics(await client.analytics(rule.id, query));
    if (analytics.now.in_force) return { rule, analytics };
  }
  throw new OperatorError(
    rules.length === 0
      ? 'The account has no rule: every query passes. `floodgate rules create` makes one'
      : 'No rule of the account applies where the guard stands: every query passes',
  );
}

/** What the server says is checked for what tells it from another server's answer. */
function readAnalytics(value: unknown): InForce['analytics'] {
  if (typeof value === 'object' && value !== null && 'now' in value && 'totals' in value)
    return value as InForce['analytics']; // told by its members
  throw new OperatorError('The server has no analytics: it runs no DNS guard, or it is not Floodgate');
}
