#!/usr/bin/env -S node --min-semi-space-size=4 --max-semi-space-size=8 --heap-growing-percent=100 --no-allocation-site-pretenuring --v8-pool-size=1
import { constants, setPriority } from 'node:os';
import './compileCache.ts';

// The flags in the first line bound the memory of a server. V8 counts buffers of responses as growth of the heap: if
// it may grow by 50 % only, V8 collects all of it several times a second. Pretenuring is off, because with it V8 may
// allocate objects of requests in the old generation, and then keeps everything that they refer to: a call uses twice
// as much processor time. `test/server/finishedRequests.test.ts` checks this. One further thread compiles code and
// collects garbage: Node's four would take most of the processor time in the first seconds of an attack, when all code
// is compiled.

// Commands that read all stores must not slow down a server that runs.
if (['backup', 'verify'].includes(process.argv[2] ?? '')) setPriority(constants.priority.PRIORITY_LOW);

// A server that is still starting reads its configuration anyway, so SIGHUP must not end it.
if (process.argv[2] === 'start') process.on('SIGHUP', () => undefined);

// Imported after `compileCache`, so that the compiled code is cached.
import('./run.ts').catch((error: unknown) => {
  // Ends the process with a stack trace, as after an error during module loading.
  setImmediate(() => {
    throw error;
  });
});
