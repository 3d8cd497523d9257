import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Data, type Hash, indexBlock } from '../../src/ethereum/traces/index.ts';
import { Random } from '../support/random.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { syntheticAddresses } from '../support/syntheticChain.ts';

const MEGABYTE = 1e6;
const BLOCKS = 200;
/** Size of the input of each call; JSON needs two digits per byte. */
const INPUT_BYTES = 1_000_000;
/** Bound for the program, one block and uncollected garbage. */
const MAX_RESIDENT_BYTES = 300 * MEGABYTE;

/** The shipped bundle, because the test measures memory. */
const SHIPPED = fileURLToPath(new URL('../../dist/bundle/floodgate.js', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'floodgate-export-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Creates an index of blocks with one call of 1 MB each, which compress to almost nothing but are large in JSON. */
async function makeIndex(): Promise<void> {
  const store = openTraceStore(join(folder, 'traces'));
  const random = new Random(3);
  const [from, to] = syntheticAddresses(2);
  if (from === undefined || to === undefined)
    throw new Error('syntheticAddresses(2) returned fewer addresses');
  const input = `0x${'00'.repeat(INPUT_BYTES)}` as Data;
  const newHash = (): Hash => random.hex(32) as Hash; // 32 bytes as digits
  let parentHash = newHash();
  for (let number = 0; number < BLOCKS; number++) {
    const [hash, transactionHash] = [newHash(), newHash()];
    const header = { number, hash, parentHash, timestamp: number, transactionHashes: [transactionHash] };
    const block = indexBlock(header, [
      {
        action: { callType: 'call', from, gas: '0x0', input, to, value: '0x0' } as never, // branded types
        blockHash: hash,
        blockNumber: number,
        result: { gasUsed: '0x0', output: '0x' } as never, // branded types, as above
        subtraces: 0,
        traceAddress: [],
        transactionHash,
        transactionPosition: 0,
        type: 'call',
      },
    ]);
    await store.apply({ blocks: [block] });
    parentHash = hash;
  }
  await store.close();
}

test('an export of 400 MB is streamed with less than 300 MB of memory', async (context) => {
  if (process.platform !== 'linux') context.skip('reading the memory of the export requires /proc');
  await makeIndex();
  const range = ['--from', '0', '--to', String(BLOCKS - 1)];
  const child = spawnGuarded(process.execPath, [SHIPPED, 'export', '--data-dir', folder, ...range]);
  child.stderr.resume();
  let [bytes, peakBytes] = [0, 0];
  const look = (): void => {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
    peakBytes = Math.max(peakBytes, 1024 * Number(kilobytes ?? 0));
  };
  for await (const piece of child.stdout) {
    bytes += (piece as Buffer).length; // a Buffer, because no encoding is set
    // Measured only while the process must be alive: the rest of its output exceeds a pipe's buffer.
    if (bytes < 2 * INPUT_BYTES * (BLOCKS - 2)) look();
  }
  expect(bytes).toBeGreaterThan(2 * INPUT_BYTES * BLOCKS);
  expect(peakBytes).toBeGreaterThan(0);
  expect(peakBytes).toBeLessThan(MAX_RESIDENT_BYTES);
});
