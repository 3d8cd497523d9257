import type { ApiResponse } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import { type AttackQuery, listAttacks, readFleet } from '../../api/guard.ts';
import type { AttackSummary } from '../../api/types.ts';
import { guardsOf } from './texts.ts';

/** Interval at which guards report their attacks to each other. */
export const FLEET_MS = 10_000;

export type AttackPage = ApiResponse<readonly AttackSummary[]> & { readonly isOfFleet: boolean };

/** Reads a page of attacks. `isOfFleet` is true if several guards are running, or reported attacks of the page. */
export async function readPage(query: AttackQuery): Promise<Outcome<AttackPage>> {
  const [attacks, fleet] = await Promise.all([listAttacks(query), readFleet()]);
  if ('failure' in attacks) return attacks;
  const now = 'value' in fleet ? fleet.value.result.map(({ id }) => ({ instance: id })) : [];
  const isOfFleet = guardsOf([...now, ...attacks.value.result]).size > 1;
  return { value: { ...attacks.value, isOfFleet } };
}
