import type { Counts, DetectorStatus, ReportedAssessment } from '../../dns/analytics/index.ts';
import type { Attack, AttackRule, AttackSummary } from '../../dns/attacks/index.ts';
import { ApiFailure, type RulesClient } from '../../rules/client/index.ts';
import { OperatorError } from '../operatorError.ts';

export interface GuardStatus extends DetectorStatus {
  readonly data_plane: string;
  readonly rule?: AttackRule;
  readonly not_ready?: string;
  readonly since_start: Counts;
  readonly attacks: readonly AttackSummary[];
}

/** Returns the status of the guard. Throws `OperatorError` if the server runs no guard for the account. */
export async function guardStatus(client: RulesClient): Promise<GuardStatus> {
  const reported = await withGuard(client, () => client.guardStatus());
  if (typeof reported === 'object' && reported !== null && 'since_start' in reported && 'attacks' in reported)
    return reported as GuardStatus; // identified by its members
  throw new OperatorError('The response is not from a Floodgate server; check the URL');
}

export async function readAttacks(
  client: RulesClient,
  query: Readonly<Record<string, string>>,
): Promise<AttackSummary[]> {
  const { result } = await withGuard(client, () => client.attacks(query));
  if (Array.isArray(result)) return result; // the format of this server's version
  throw new OperatorError('The response is not from a Floodgate server; check the URL');
}

/** Returns an attack. Throws `OperatorError` if it does not exist. */
export async function readAttack(client: RulesClient, id: string): Promise<Attack> {
  try {
    return (await client.attack(id)) as Attack; // the format of this server's version
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new OperatorError(
      `Account ${client.accountId} has no attack ${id}; \`floodgate dns attacks\` lists the attacks of the last 90 days`,
    );
  }
}

/** Returns the assessments of zones, or of one zone. Throws `OperatorError` if the server runs no guard. */
export async function readZoneAssessments(
  client: RulesClient,
  zone: string | undefined,
): Promise<ReportedAssessment[]> {
  const result = await withGuard(client, () => client.zoneAssessments(zone === undefined ? {} : { zone }));
  if (Array.isArray(result)) return result; // the format of this server's version
  throw new OperatorError('The response is not from a Floodgate server; check the URL');
}

/** Lets all guards of the account forget the zone of a policy. Throws `OperatorError` if none runs. */
export const forgetZone = (client: RulesClient, policyId: string): Promise<void> =>
  withGuard(client, () => client.forgetZone(policyId));

async function withGuard<T>({ accountId }: RulesClient, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new OperatorError(
      `The server runs no DNS guard for account ${accountId}. Start it with dns.account, dns.listen and dns.servers ` +
        '(docs/reference/dns-protection.md), or use --account with the account that it guards',
    );
  }
}

const isMissing = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;
