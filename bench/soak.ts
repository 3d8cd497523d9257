/**
 * Whether ingest slows down as the index grows: the rate around block 1,000 against the rate around block 20,000, in
 * batches like those of the server. Only ingest is timed, not the generation of the blocks.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTraceStore } from '../src/ethereum/store/lmdb/traces/index.ts';
import { checkBlock, parseHeader, parseTraceBlock } from '../src/ethereum/traces/convert/index.ts';
import { indexBlock } from '../src/ethereum/traces/index.ts';
import { MainnetLike } from './support/mainnetLike.ts';
import { progress, row } from './support/turns.ts';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 20_000);
const TRACES_PER_BLOCK = 200;
const BLOCKS_PER_BATCH = 64;
/** Blocks on both sides of a measured point. */
const WINDOW_BLOCKS = 1000;
const EARLY = 1000;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-soak-'));
const store = openTraceStore(folder);
const chain = new MainnetLike(2, TRACES_PER_BLOCK);
const batchMs: Array<{ lastBlock: number; blocks: number; ms: number }> = [];

for (let first = 1; first <= BLOCKS; first += BLOCKS_PER_BATCH) {
  const made = [];
  for (let number = first; number < first + BLOCKS_PER_BATCH && number <= BLOCKS; number++) {
    const { header, traces } = chain.block(number);
    made.push({ header, bytes: Buffer.from(JSON.stringify(traces)) });
  }
  const started = performance.now();
  const blocks = made.map(({ header, bytes }) => {
    const parsed = parseHeader(header);
    const traces = parseTraceBlock(JSON.parse(bytes.toString()));
    checkBlock(parsed, traces);
    return indexBlock(parsed, traces);
  });
  await store.apply({ blocks });
  const lastBlock = first + made.length - 1;
  batchMs.push({ lastBlock, blocks: made.length, ms: performance.now() - started });
  progress(lastBlock, BLOCKS);
}
await store.close();
rmSync(folder, { recursive: true, force: true });

/** Returns the blocks per second of the batches that end within the window. */
function rate(fromBlock: number, toBlock: number): number {
  const batches = batchMs.filter(({ lastBlock }) => lastBlock > fromBlock && lastBlock <= toBlock);
  const blocks = batches.reduce((sum, batch) => sum + batch.blocks, 0);
  return (1000 * blocks) / batches.reduce((sum, batch) => sum + batch.ms, 0);
}

const early = rate(EARLY - WINDOW_BLOCKS / 2, EARLY + WINDOW_BLOCKS / 2);
const late = rate(BLOCKS - WINDOW_BLOCKS, BLOCKS);
row({
  name: `ingest rate after ${BLOCKS} blocks`,
  must: 'at least 0.7',
  value: late / early,
  note: `${late.toFixed(0)} blocks/s against ${early.toFixed(0)} after ${EARLY}`,
});
