import type { Guard } from './guard.ts';

/** So many zones are named, the others counted. */
const MAX_ZONES_NAMED = 10;

/** What is not as configured yet, for whoever looks: DNS is answered all the same. Undefined where nothing is missing. */
export function notReady({ dataPlane, seeding }: Pick<Guard, 'dataPlane' | 'seeding'>): string | undefined {
  const reason = dataPlane.notReady();
  const zones = seeding.missing();
  const named = zones
    .slice(0, MAX_ZONES_NAMED)
    .map(({ zone, reason: why }) => `${zone} (${why ?? 'being read'})`)
    .join(', ');
  const others = zones.length > MAX_ZONES_NAMED ? ` and ${zones.length - MAX_ZONES_NAMED} more` : '';
  const parts = [
    ...(reason === undefined ? [] : [reason]),
    ...(zones.length > 0 ? [`names not known yet: ${named}${others}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}
