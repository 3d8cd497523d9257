/**
 * Which TCP connections there is room for, in the manner of dynamic thresholds (Choudhury and Hahne, 1998): a client may
 * hold as many as are still free for all others. Nothing here does I/O.
 */
import type { ConnectionTable, Held } from './connectionTable.ts';

export interface Places {
  readonly capacity: number;
  readonly perClient: number;
  /** Made free again before the next client needs one: a busy connection takes a moment to give way. */
  readonly reserved: number;
}

/** Far more than honest clients of DNS over TCP hold open, at some tens of kilobytes each. */
const MAX_CONNECTIONS = 1000;
/** No more than a tenth of them all for one client, however empty the table is. */
const MAX_CONNECTIONS_PER_CLIENT = 100;
const PLACES: Places = { capacity: MAX_CONNECTIONS, perClient: MAX_CONNECTIONS_PER_CLIENT, reserved: 50 };

export type Admission<T> =
  | { readonly admitted: false }
  /** With the connection that gives way, at once where it is idle, else when it has its answers. */
  | { readonly admitted: true; readonly givesWay: T | undefined };

export function admit<T extends Held>(
  table: ConnectionTable<T>,
  client: string,
  { capacity, perClient, reserved }: Places = PLACES,
): Admission<T> {
  const held = table.heldBy(client);
  const free = capacity - table.size;
  const share = Math.max(1, Math.min(perClient, free));
  if (held >= share) return inPlaceOf(table.longestIdleOf(client));
  if (free <= 0) return inPlaceOf(table.longestIdle(0));
  if (free > reserved) return { admitted: true, givesWay: undefined };
  // Between two that hold something nobody is made to hold less than the other; one that holds nothing comes first.
  const moreThan = held === 0 ? 0 : held + 1;
  return { admitted: true, givesWay: table.longestIdle(moreThan) ?? table.longestBusy(moreThan) };
}

const inPlaceOf = <T>(givesWay: T | undefined): Admission<T> =>
  givesWay === undefined ? { admitted: false } : { admitted: true, givesWay };
