import { listAttacks, readFleet } from '../../api/account.ts';
import type { ApiResponse } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import type { AttackSummary } from '../../api/types.ts';
import { account } from '../../session.ts';
import { useLoaded } from '../../ui/useLoaded.ts';

/** Interval at which guards report their attacks to each other. */
export const FLEET_MS = 10_000;

type AttackPage = ApiResponse<readonly AttackSummary[]> & { readonly isOfFleet: boolean };
type Query = Parameters<typeof listAttacks>[0];

/** Reads a page of attacks. `isOfFleet` is true if several guards are running, or reported attacks of the page. */
async function readPage(query: Query): Promise<Outcome<AttackPage>> {
  const [attacks, fleet] = await Promise.all([listAttacks(query), readFleet()]);
  if ('failure' in attacks) return attacks;
  const running = 'value' in fleet ? fleet.value.result.map(({ id }) => id) : [];
  const guards = new Set([...running, ...attacks.value.result.flatMap(({ instance }) => instance ?? [])]);
  return { value: { ...attacks.value, isOfFleet: guards.size > 1 } };
}

/** Hook that reads a page of attacks when a value of `on` changes and, in a fleet, at an interval. */
export const useAttacks = (query: Query, on: readonly unknown[] = []) =>
  useLoaded(() => readPage(query), [account.value, ...on], {
    everyMs: (value) => (value?.isOfFleet ? FLEET_MS : undefined),
  });
