// Preloaded before the program: a worker that receives SIGUSR2 reports it and then blocks for good, without using the
// processor.
const { isWorker } = require('node:cluster');
const { writeSync } = require('node:fs');

if (isWorker)
  process.on('SIGUSR2', () => {
    writeSync(2, `${process.pid} hangs\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
