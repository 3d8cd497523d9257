// Loaded before the program: a worker that gets SIGUSR2 hangs for good, without using the processor, and says so first.
const { isWorker } = require('node:cluster');
const { writeSync } = require('node:fs');

if (isWorker)
  process.on('SIGUSR2', () => {
    writeSync(2, `${process.pid} hangs\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
