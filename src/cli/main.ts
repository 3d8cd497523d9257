#!/usr/bin/env -S node --min-semi-space-size=4 --max-semi-space-size=8 --heap-growing-percent=50
import { constants, setPriority } from 'node:os';
import './compileCache.ts';

// Commands that read all stores must not slow down a server that runs.
if (['backup', 'verify'].includes(process.argv[2] ?? '')) setPriority(constants.priority.PRIORITY_LOW);

// Imported after `compileCache`, so that the compiled code is cached.
import('./run.ts').catch((error: unknown) => {
  // Ends the process with a stack trace, as after an error during module loading.
  setImmediate(() => {
    throw error;
  });
});
