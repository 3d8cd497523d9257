/** Whether an attack goes on: the API keeps it `active` for at least five minutes after it was last seen. */
import type { AttackSummary, GuardStatus } from '../../api/types.ts';

/** The guard of this server reports its attacks each second, and other guards report theirs each ten seconds. */
const OWN_SILENT_MS = 10_000;
const REMOTE_SILENT_MS = 60_000;

export interface Observation {
  readonly at: string;
  readonly guard?: Pick<GuardStatus, 'attack' | 'instance'>;
}

/** Returns whether an attack still went on when the live stream sent its newest message, which is undefined at first. */
export function isCurrent(
  { state, instance, last_seen_on }: Pick<AttackSummary, 'state' | 'instance' | 'last_seen_on'>,
  { at, guard }: Partial<Observation> = {},
): boolean {
  if (state !== 'active') return false;
  if (at === undefined) return true;
  const isOwn = guard !== undefined && (instance === undefined || instance === guard.instance);
  if (isOwn && !guard.attack) return false;
  return Date.parse(at) - Date.parse(last_seen_on) < (isOwn ? OWN_SILENT_MS : REMOTE_SILENT_MS);
}
