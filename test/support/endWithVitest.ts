/** Each test file runs in a process of its own, which what it has started keeps alive: without this, past a killed vitest. */
process.once('disconnect', () => process.exit(1));
