import type { Socket } from 'node:net';

/** What node's own timeouts look at, and does not document: how much of a write that is under way is still to be taken. */
interface Internals {
  readonly _bytesDispatched?: unknown;
  readonly _handle?: { readonly writeQueueSize?: unknown } | null;
}

/**
 * Bytes that the system has taken from a socket since it was connected. Where node does not tell of the write that is
 * under way it counts once it is done.
 */
export function takenBytes(socket: Socket): number {
  const { _bytesDispatched: dispatched, _handle: handle } = socket as unknown as Internals; // looked at with care below
  const queued = handle?.writeQueueSize;
  if (typeof dispatched === 'number' && typeof queued === 'number') return dispatched - queued;
  return socket.bytesWritten - socket.writableLength;
}
