/** Returns the location of a guard: `WEUR, AMS`. */
export const placeText = ({ region, datacenter }: Pick<FleetInstance, 'region' | 'datacenter'>): string =>
  [region, datacenter].filter((name) => name !== undefined).join(', ') || 'no location';

/** Whether another guard that is up has another version that is listed as newer. */
export function isOutdated({ version }: FleetInstance, guards: readonly FleetInstance[]): boolean {
  const newest = guards
    .filter(({ is_up }) => is_up)
    .map((guard) => guard.version)
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .at(-1);
  return newest !== undefined && newest.localeCompare(version, 'en', { numeric: true }) > 0;
}

/** Returns a text such as `Guards: 2 up, 1 silent, 1 with an older version.` */
export function fleetHeadline(guards: readonly FleetInstance[]): string {
  const parts: readonly (readonly [string, (guard: FleetInstance) => boolean])[] = [
    ['up', ({ is_up }) => is_up],
    ['silent', ({ is_up }) => !is_up],
    ['with an older version', (guard) => isOutdated(guard, guards)],
  ];
  const counts = parts.flatMap(([state, isIn]) => {
    const count = guards.filter(isIn).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  return `Guards: ${counts.join(', ') || 'none'}.`;
}

import type { FleetInstance } from '../../api/types.ts';
