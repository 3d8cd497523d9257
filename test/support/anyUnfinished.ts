import { Registry } from 'prom-client';
import { UnfinishedMessages } from '../../src/platform/http/index.ts';

/** Returns an `UnfinishedMessages` with enough memory for any test. */
export const anyUnfinished = (): UnfinishedMessages =>
  new UnfinishedMessages({
    clientAddress: ({ socket }) => socket.remoteAddress ?? '',
    metrics: new Registry(),
    log: { warn: () => undefined },
  });
