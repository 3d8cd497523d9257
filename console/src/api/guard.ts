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
