/** What a server tells of its guard, as the commands read it. */
import type { Counts, Standing } from '../../dns/analytics/index.ts';
import type { Attack, AttackSummary, MetRule } from '../../dns/attacks/index.ts';
import { ApiFailure, type RulesClient } from '../../rules/client/index.ts';
import { OperatorError } from '../operatorError.ts';

export interface GuardStatus extends Standing {
  readonly data_plane: string;
  readonly rule?: MetRule;
  readonly not_ready?: string;
  readonly since_start: Counts;
  readonly attacks: readonly AttackSummary[];
}

/** Throws `OperatorError` where the account has no guard. */
export async function guardStatus(client: RulesClient): Promise<GuardStatus> {
  const told = await withGuard(client, () => client.guardStatus());
  if (typeof told === 'object' && told !== null && 'since_start' in told && 'attacks' in told)
    return told as GuardStatus; // told by its members
  throw new OperatorError('The answer is not what Floodgate gives; check the URL');
}

export async function readAttacks(
  client: RulesClient,
  query: Readonly<Record<string, string>>,
): Promise<AttackSummary[]> {
  const { result } = await withGuard(client, () => client.attacks(query));
  if (Array.isArray(result)) return result; // what this server's version answers
  throw new OperatorError('The answer is not what Floodgate gives; check the URL');
}

/** Throws `OperatorError` where there is no such attack. */
export async function readAttack(client: RulesClient, id: string): Promise<Attack> {
  try {
    return (await client.attack(id)) as Attack; // what this server's version answers
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new OperatorError(
      `There is no attack ${id} in account ${client.accountId}; \`floodgate dns attacks\` lists those of the last 90 days`,
    );
  }
}

async function withGuard<T>({ accountId }: RulesClient, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new OperatorError(
      `The server runs no DNS guard for account ${accountId}. Start it with dns.account, dns.listen and dns.servers ` +
        '(docs/dns-protection.md), or name the account that it guards with --account',
    );
  }
}

const isMissing = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;
