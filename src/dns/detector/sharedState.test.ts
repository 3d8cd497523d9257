import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { NameTable } from './profile/nameTable.ts';
import { BUCKET_BYTES, TokenBucket } from './tokenBucket.ts';

/** Runs the body of a module in a real thread, with the compiled program. The body reports its result with `done`. */
function inThread(body: string, data: object): Worker {
  const dist = new URL('../../../dist/dns/detector/', import.meta.url).href;
  const code = `const { parentPort, workerData } = require('node:worker_threads');
    const done = (result) => parentPort.postMessage(result);
    const load = (file) => import(${JSON.stringify(dist)} + file);
    (async () => { ${body} })();`;
  return new Worker(code, { eval: true, workerData: data });
}
const result = async (thread: Worker): Promise<number> => (await once(thread, 'message'))[0];

it('a lookup never misses a known name while another thread deletes and inserts names', async () => {
  const CAPACITY = 64;
  const memory = new SharedArrayBuffer(NameTable.bytesFor(CAPACITY));
  const table = new NameTable(CAPACITY, memory);
  // All names have the same home slot, so that nearly every deletion moves others.
  for (let low = 1; low <= 20; low++) table.insert(0, low);
  const thread = inThread(
    `const { NameTable } = await load('profile/nameTable.js');
     const table = new NameTable(${CAPACITY}, workerData);
     done(0);
     let missed = 0;
     for (let round = 0; round < 200_000; round++)
       for (let low = 2; low <= 20; low += 2) if (table.find(0, low) < 0) missed++;
     done(missed);`,
    memory,
  );
  let missed: number | undefined;
  await once(thread, 'message');
  thread.once('message', (count) => {
    missed = count;
  });
  for (let turn = 0; missed === undefined; turn++) {
    for (let step = 0; step < 1000; step++) {
      const low = 1 + 2 * ((turn + step) % 10);
      const slot = table.find(0, low);
      if (slot >= 0) table.delete(slot);
      else table.insert(0, low);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(missed).toBe(0);
});

it('threads that share a bucket take each token exactly once', async () => {
  const BURST = 200_000;
  const memory = new SharedArrayBuffer(BUCKET_BYTES);
  new TokenBucket(memory, 0).resize(0, BURST, 0);
  const body = `const { TokenBucket } = await load('tokenBucket.js');
    const bucket = new TokenBucket(workerData, 0);
    let taken = 0;
    while (bucket.take(Date.now())) taken++;
    done(taken);`;
  const taken = await Promise.all([1, 2, 3].map(() => result(inThread(body, memory))));
  expect(taken.reduce((sum, count) => sum + count)).toBe(BURST);
});
