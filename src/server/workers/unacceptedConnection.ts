import type { Worker } from 'node:cluster';

interface Handle {
  close(): void;
}

type Send = (message: unknown, handle?: unknown, ...more: unknown[]) => boolean;

/**
 * Closes the connection that node:cluster handed to a worker if the worker ends before it accepts the connection. node:cluster
 * would keep it open, and the client would wait without end. A worker has at most one connection that it has not accepted.
 */
export function closeIfNotAccepted({ process }: Worker): void {
  // A process that could not be created has no channel.
  const send = process.send?.bind(process) as Send | undefined; // node's types have one form for each kind of handle
  if (send === undefined) return;
  let handed: Handle | undefined;
  process.send = (message: unknown, handle?: unknown, ...more: unknown[]) => {
    // A function is the callback of a message without a handle; node:cluster sends no other handles.
    if (typeof handle === 'object') handed = handle as Handle;
    return send(message, handle, ...more);
  };
  // A rejected connection is handed to another worker. This listener runs before that of node:cluster, which hands over the
  // next connection when a worker accepts one.
  process.prependListener('internalMessage', ({ accepted }: { readonly accepted?: boolean }) => {
    if (accepted !== undefined) handed = undefined;
  });
  // Both events are needed: between them, in either order, node:cluster may still hand a connection to the worker.
  for (const event of ['exit', 'disconnect']) process.on(event, () => handed?.close());
}
