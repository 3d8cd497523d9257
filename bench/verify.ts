/**
 * Rate of `floodgate verify` for a trace index: traces per second of one process, and of two processes that share the
 * segments, in alternation. Needs two idle cores.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTraceStore } from '../src/ethereum/store/lmdb/traces/index.ts';
import { parseHeader, parseTraceBlock } from '../src/ethereum/traces/convert/index.ts';
import { type IndexedBlock, indexBlock } from '../src/ethereum/traces/index.ts';
import { runFloodgate } from './child.ts';
import { MainnetLike } from './mainnetLike.ts';
import { progress, row } from './turns.ts';

/**
 * 32 segments with two million traces. Each process needs some seconds to start, to compile code and to load recent
 * postings; a small index would measure only these.
 */
const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 32 * 1024);
const TRACES_PER_BLOCK = 60;
const BLOCKS_PER_CHANGE = 256;
const TURNS = 3;
/** Minimum quotient of the rates of two processes and of one process. */
const LEAST_RATIO = 1.8;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-verify-'));
const index = join(folder, 'traces');

async function fill(): Promise<number> {
  const chain = new MainnetLike(1, TRACES_PER_BLOCK);
  const store = openTraceStore(index);
  let traces = 0;
  let blocks: IndexedBlock[] = [];
  for (let number = 0; number < BLOCKS; number++) {
    const made = chain.block(number);
    const block = indexBlock(parseHeader(made.header), parseTraceBlock(made.traces));
    traces += block.block.traceCount;
    blocks.push(block);
    if (blocks.length < BLOCKS_PER_CHANGE && number < BLOCKS - 1) continue;
    await store.apply({ blocks });
    blocks = [];
    progress(number + 1, BLOCKS);
  }
  await store.close();
  return traces;
}

/** Returns the seconds that processes need to verify the index together. */
async function verify(processes: number): Promise<number> {
  const started = performance.now();
  await Promise.all(
    Array.from({ length: processes }, (_, share) =>
      runFloodgate('verify', '--in-process', index, '--store', 'traces', '--share', `${share}/${processes}`),
    ),
  );
  return (performance.now() - started) / 1000;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

try {
  const traces = await fill();
  const [one, two]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    one.push(traces / (await verify(1)));
    two.push(traces / (await verify(2)));
  }
  const value = median(two) / median(one);
  const note = `${median(two).toFixed(0)} against ${median(one).toFixed(0)} traces/s`;
  row({ name: 'verify, two processes against one', value, must: `>= ${LEAST_RATIO}`, note });
  if (value < LEAST_RATIO) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
