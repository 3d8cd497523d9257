import { Registry } from 'prom-client';
import { Handshakes } from '../../src/platform/http/index.ts';
import { Scheduler } from '../../src/platform/scheduler/index.ts';
import { anyReaders } from './anyReaders.ts';
import { anyUnfinished } from './anyUnfinished.ts';

/** Returns limits of HTTP clients that no test reaches. */
export const anyLimits = () => ({
  readers: anyReaders(),
  unfinished: anyUnfinished(),
  scheduler: new Scheduler(),
  handshakes: new Handshakes({ isTrustedProxy: () => true, metrics: new Registry() }),
});
