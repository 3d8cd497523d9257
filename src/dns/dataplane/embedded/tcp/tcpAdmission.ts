/**
 * Decides whether a new TCP connection is accepted, by dynamic thresholds (Choudhury and Hahne, 1998): a client may
 * have at most as many connections as there are free slots. No I/O.
 */
import type { ConnectionTable, SlotHolder } from './connectionTable.ts';

export interface SlotLimits {
  readonly capacity: number;
  /** Number of slots to keep free. A busy connection that was asked to close holds its slot for some more time. */
  readonly reserved: number;
}

/** Maximum number of TCP connections from clients, far more than legitimate clients need. Each uses tens of KB. */
export const MAX_CONNECTIONS = 1000;
const SLOTS: SlotLimits = { capacity: MAX_CONNECTIONS, reserved: 50 };

export type Admission<T> =
  | { readonly admitted: false }
  /** The connection `replaced` must close to free its slot: now if it is idle, otherwise after its last answer. */
  | { readonly admitted: true; readonly replaced: T | undefined };

export function admit<T extends SlotHolder>(
  table: ConnectionTable<T>,
  client: string,
  { capacity, reserved }: SlotLimits = SLOTS,
): Admission<T> {
  const held = table.countOf(client);
  const free = capacity - table.size;
  const share = Math.max(1, free);
  if (held >= share) return replacing(table.longestIdleOf(client));
  if (free <= 0) return replacing(table.longestIdle(0));
  if (free > reserved) return { admitted: true, replaced: undefined };
  // A client may replace a connection of another client only if the other client then still has at least as many
  // connections as the first. A client without connections may replace any connection.
  const moreThan = held === 0 ? 0 : held + 1;
  return { admitted: true, replaced: table.longestIdle(moreThan) ?? table.longestBusy(moreThan) };
}

const replacing = <T>(replaced: T | undefined): Admission<T> =>
  replaced === undefined ? { admitted: false } : { admitted: true, replaced };
