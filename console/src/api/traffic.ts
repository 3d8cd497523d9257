import { account } from '../session.ts';
import { type ApiResponse, call, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

const guardPath = (): string =>
  pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection`;
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
