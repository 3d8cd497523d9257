/**
 * Health of a node.
 * - `unknown`: its chain is not known yet.
 * - `healthy`: in rotation.
 * - `failing`, `busy`: out of rotation until its pause has ended and it answers a poll; used only if no other node is
 * left.
 * - `drained`: taken out of rotation by an operator; receives no requests until it is resumed.
 * - `quarantined`, `wrongChain`: sent a provably false response, or is on another chain; receives no client requests.
 */
export type Health = 'unknown' | 'healthy' | 'failing' | 'busy' | 'drained' | 'quarantined' | 'wrongChain';
