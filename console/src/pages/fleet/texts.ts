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

/** Returns a sentence such as `3 guards: 2 are up, 1 is silent; 1 has an older version.` */
export function fleetHeadline(guards: readonly FleetInstance[]): string {
  if (guards.length === 0) return 'No guard.';
  const up = guards.filter(({ is_up }) => is_up).length;
  const silent = guards.length - up;
  const outdated = guards.filter((guard) => isOutdated(guard, guards)).length;
  const parts = [
    ...(up > 0 ? [`${up} ${up === 1 ? 'is' : 'are'} up`] : []),
    ...(silent > 0 ? [`${silent} ${silent === 1 ? 'is' : 'are'} silent`] : []),
  ];
  const older = outdated === 0 ? '' : `; ${outdated} ${outdated === 1 ? 'has' : 'have'} an older version`;
  if (guards.length === 1) return `One guard; it is ${up === 1 ? 'up' : 'silent'}.`;
  return `${guards.length} guards: ${parts.join(', ')}${older}.`;
}

import type { FleetInstance } from '../../api/types.ts';
