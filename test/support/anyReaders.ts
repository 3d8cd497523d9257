import { Registry } from 'prom-client';
import { Readers } from '../../src/platform/http/index.ts';

const MEGABYTE = 1024 * 1024;

/** Returns a `Readers` with enough memory for any test. */
export const anyReaders = (metrics = new Registry()): Readers =>
  new Readers({
    maxBytes: 128 * MEGABYTE,
    sendTimeoutMs: 30_000,
    clientAddress: ({ socket }) => socket.remoteAddress ?? '',
    metrics,
    log: { warn: () => undefined },
  });
