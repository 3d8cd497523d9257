/**
 * Health of a node.
 * - `unknown`: the node's chain is not known yet.
 * - `healthy`: the node is in rotation.
 * - `failing`, `busy`: the node is out of rotation until its pause has ended and it answers a poll. Until then, it is
 * used only if no other node is left.
 * - `drained`: an operator took the node out of rotation. It receives no requests until it is resumed.
 * - `quarantined`: the node sent a provably false response. It receives no client requests.
 * - `wrongChain`: the node is on another chain than the index or the other nodes. It receives no client requests.
 */
export type Health = 'unknown' | 'healthy' | 'failing' | 'busy' | 'drained' | 'quarantined' | 'wrongChain';
