import type { Worker } from 'node:cluster';

interface Handle {
  close(): void;
}

type Send = (message: unknown, handle?: unknown, ...more: unknown[]) => boolean;

/**
 * Closes a connection that node:cluster handed to a worker, if the worker ends before it accepts the connection.
 * Otherwise node:cluster would keep the connection open, and the client would wait without end. A worker has at most
 * one connection that it has not accepted.
 */
export function closeIfNotAccepted({ process }: Worker): void {
  // A process that could not be created has no channel.
  const send = process.send?.bind(process) as Send | undefined; // node's types overload `send` by kind of handle
  if (send === undefined) return;
  let handed: Handle | undefined;
  process.send = (message: unknown, handle?: unknown, ...more: unknown[]) => {
    // In a message without a handle, this argument may be a callback. Every handle that node:cluster sends is a
    // connection.
    if (typeof handle === 'object') handed = handle as Handle;
    return send(message, handle, ...more);
  };
  // `accepted` is the worker's reply; node:cluster hands a rejected connection to another worker. This listener runs
  // before that of node:cluster, which hands the next connection to the worker as soon as one is accepted.
  process.prependListener('internalMessage', ({ accepted }: { readonly accepted?: boolean }) => {
    if (accepted !== undefined) handed = undefined;
  });
  // Both events are needed: they occur in either order, and between them node:cluster may still hand over a
  // connection.
  for (const event of ['exit', 'disconnect']) process.on(event, () => handed?.close());
}
