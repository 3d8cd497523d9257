/**
 * The health of a node.
 * - `unknown`: it has not told its chain yet.
 * - `healthy`: it is asked.
 * - `failing`, `busy`: out of rotation until it answers a poll and its pause is over; asked only where no other is left.
 * - `drained`: set aside by an operator: not asked for anything until it is put back.
 * - `quarantined`, `wrongChain`: caught with an answer that cannot be true, or on another chain: not asked.
 */
export type Health = 'unknown' | 'healthy' | 'failing' | 'busy' | 'drained' | 'quarantined' | 'wrongChain';
