/** Calls for the selected account: its rules, zone policies, access lists, attacks, guards and audit log. */
import { account, isGuarded } from '../session.ts';
import { type ApiRequest, call, callPages, pathOf } from './client.ts';
import { collection } from './collection.ts';
import type { Outcome } from './failure.ts';
import type {
  AccessEntry,
  AccessListName,
  Analytics,
  Attack,
  AttackSummary,
  Change,
  FleetInstance,
  NewRule,
  Rule,
  RuleSettings,
  Schemas,
  ZoneAssessment,
  ZonePolicy,
  ZonePolicyChanges,
} from './types.ts';

const configPath = (): string => pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs`;
export const guardPath = (): string => `${configPath()}/dns_protection`;

export const ruleCalls = collection<Rule, NewRule, Partial<RuleSettings>>(() => `${guardPath()}/rules`);

/** Reads the numbers of queries to which a rule was applied. The default period is the last hour. */
export const readAnalytics = (id: string, query: ApiRequest['query'] = {}) =>
  call<Analytics>({ path: `${ruleCalls.callOf(id).path}/analytics`, query });

export const policyCalls = collection<
  ZonePolicy,
  { readonly zone: string } & ZonePolicyChanges,
  ZonePolicyChanges
>(() => `${guardPath()}/zones`);

/** Makes all guards of the account forget the names and rates of a policy's zone. */
export const forgetZone = (id: string) =>
  call<null>({ method: 'POST', path: `${policyCalls.callOf(id).path}/forget` });

/** Assessments of the guard in this server; none if the guard protects another account. */
export async function listAssessments(): Promise<Outcome<readonly ZoneAssessment[]>> {
  if (!isGuarded.value) return { value: [] };
  const answer = await call<readonly ZoneAssessment[]>({ path: `${guardPath()}/zone_assessments` });
  return 'failure' in answer ? answer : { value: answer.value.result };
}

const entriesOf = (list: AccessListName) =>
  collection<AccessEntry, Schemas['AccessEntryCreation'], Schemas['AccessEntryPatch']>(
    () => `${configPath()}/${list}`,
  );
/** Networks and names that are allowed or denied before any rule applies. */
export const entryCalls = { allowlist: entriesOf('allowlist'), denylist: entriesOf('denylist') } as const;

export const readAudit = (query: NonNullable<ApiRequest['query']>) =>
  call<readonly Change[]>({ path: `${guardPath()}/audit`, query });

export const readRates = () => call<Schemas['GuardRates']>({ path: `${guardPath()}/rates` });
export const readWhatIf = () => call<Schemas['WhatIf']>({ path: `${guardPath()}/what-if` });
export const readFleet = () => call<readonly FleetInstance[]>({ path: `${guardPath()}/fleet` });

export const ATTACKS_PER_PAGE = 25;
export const listAttacks = ({
  page = 1,
  since,
}: {
  readonly page?: number;
  readonly since?: string | undefined;
}) =>
  call<readonly AttackSummary[]>({
    path: `${guardPath()}/attacks`,
    query: { page, per_page: ATTACKS_PER_PAGE, since },
  });

const MAX_ATTACKS_PER_PAGE = 100;
/** Returns the newest 1,000 attacks. */
export const listAllAttacks = () => callPages<AttackSummary>(`${guardPath()}/attacks`, MAX_ATTACKS_PER_PAGE);

export const attackCall = (id: string): ApiRequest => ({ path: guardPath() + pathOf`/attacks/${id}` });
export const readAttack = (id: string) => call<Attack>(attackCall(id));

const momentOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Reads the mean rates of each minute in a period, in seconds since 1970. */
export const readMinuteRates = (from: number, to: number) =>
  call<Schemas['GuardMinuteRates']>({
    path: `${guardPath()}/rates/minutes`,
    query: { since: momentOf(from), until: momentOf(to) },
  });

/** Reads samples of the queries that were limited in one second since 1970. */
export const readSamples = (at: number) =>
  call<Schemas['SampledQueries']>({ path: `${guardPath()}/samples`, query: { at: momentOf(at) } });

/** Starts the test flood of `floodgate dev`. Other servers have none. */
export const startTestFlood = () => call({ method: 'POST', base: '/operations', path: '/test-flood' });
