import { account } from '../session.ts';
import { type ApiRequest, type ApiResponse, call, callPages, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Attack, AttackSummary, FleetInstance, Schemas } from './types.ts';

export type Rates = Schemas['GuardRates'];
export type WhatIf = Schemas['WhatIf'];

const guardPath = (): string =>
  pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection`;

export const readRates = (): Promise<Outcome<ApiResponse<Rates>>> => call({ path: `${guardPath()}/rates` });
export const readWhatIf = (): Promise<Outcome<ApiResponse<WhatIf>>> =>
  call({ path: `${guardPath()}/what-if` });

export const readFleet = (): Promise<Outcome<ApiResponse<readonly FleetInstance[]>>> =>
  call({ path: `${guardPath()}/fleet` });

export interface AttackQuery {
  readonly page?: number;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export const ATTACKS_PER_PAGE = 25;
const attacksCall = ({ page = 1, since, until }: AttackQuery): ApiRequest => ({
  path: `${guardPath()}/attacks`,
  query: { page, per_page: ATTACKS_PER_PAGE, since, until },
});
export const listAttacks = (query: AttackQuery): Promise<Outcome<ApiResponse<readonly AttackSummary[]>>> =>
  call(attacksCall(query));

/** Maximum number of attacks per request. */
const MAX_ATTACKS_PER_PAGE = 100;
/** Returns the newest 1,000 attacks. */
export const listAllAttacks = (): Promise<Outcome<readonly AttackSummary[]>> =>
  callPages(`${guardPath()}/attacks`, MAX_ATTACKS_PER_PAGE);

export const attackCall = (id: string): ApiRequest => ({ path: guardPath() + pathOf`/attacks/${id}` });
export const readAttack = (id: string): Promise<Outcome<ApiResponse<Attack>>> => call(attackCall(id));

const momentOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Reads the mean rates of each minute in a period, in seconds since 1970. */
export const readMinuteRates = (
  from: number,
  to: number,
): Promise<Outcome<ApiResponse<Schemas['GuardMinuteRates']>>> =>
  call({ path: `${guardPath()}/rates/minutes`, query: { since: momentOf(from), until: momentOf(to) } });

/** Reads samples of the queries that were limited in one second since 1970. */
export const readSamples = (at: number): Promise<Outcome<ApiResponse<Schemas['SampledQueries']>>> =>
  call({ path: `${guardPath()}/samples`, query: { at: momentOf(at) } });

/** Starts the test flood of `floodgate dev`. Other servers have none. */
export const startTestFlood = (): Promise<Outcome<ApiResponse<unknown>>> =>
  call({ method: 'POST', base: '/operations', path: '/test-flood' });
