import type { Guard } from './guard.ts';

/** Maximum number of zones that the text names. Of further zones, it contains only the number. */
const MAX_ZONES_NAMED = 10;

/** Describes why the guard is not ready, e.g. zones that are not seeded yet. Undefined if the guard is ready. */
export function notReady({ dataPlane, seeding }: Pick<Guard, 'dataPlane' | 'seeding'>): string | undefined {
  const reason = dataPlane.notReadyReason();
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
