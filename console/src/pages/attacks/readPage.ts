import type { Answer } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import { type AttackQuery, listAttacks, readFleet } from '../../api/guard.ts';
import type { AttackSummary } from '../../api/types.ts';
import { guardsOf } from './words.ts';

/** Guards tell each other of their attacks so often. */
export const FLEET_MS = 10_000;

export type AttackPage = Answer<readonly AttackSummary[]> & { readonly isOfFleet: boolean };

/** A page of the list, and whether several guards are in it: that it names, or that there are now. */
export async function readPage(query: AttackQuery): Promise<Outcome<AttackPage>> {
  const [attacks, fleet] = await Promise.all([listAttacks(query), readFleet()]);
  if ('failure' in attacks) return attacks;
  const now = 'value' in fleet ? fleet.value.result.map(({ id }) => ({ instance: id })) : [];
  const isOfFleet = guardsOf([...now, ...attacks.value.result]).size > 1;
  return { value: { ...attacks.value, isOfFleet } };
}
