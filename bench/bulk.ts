/**
 * Rates of the commands that read or write a whole index: import of NDJSON and Parquet, merge and verify.
 * Each runs on one core and on two, in alternation, so that other work of the machine affects both. Prints the best
 * rates, and the resident memory of all processes of the command. Needs two idle cores, and `taskset`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTraceStore } from '../src/ethereum/store/lmdb/traces/index.ts';
import { parseHeader, parseTraceBlock } from '../src/ethereum/traces/convert/index.ts';
import { type IndexedBlock, indexBlock } from '../src/ethereum/traces/index.ts';
import { BUNDLE, buildBundle, childrenMs } from './support/child.ts';
import { MainnetLike } from './support/mainnetLike.ts';
import { progress, row } from './support/turns.ts';

/** Several segments. A small index would measure only the start of the processes and the compilation of code. */
const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 4 * 1024);
const TRACES_PER_BLOCK = 300;
/** The genesis block must have no traces, so the index starts at the second segment. */
const FIRST = 1024;
const LAST = FIRST + BLOCKS - 1;
const BLOCKS_PER_CHANGE = 256;
const TURNS = Number(process.env['BENCH_TURNS'] ?? 3);
const SAMPLE_MS = 100;
/** Minimum quotient of the rates of `verify` on two cores and on one. */
const LEAST_RATIO = 1.8;
const TASKSET = '/usr/bin/taskset';
const MEGABYTE = 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-bulk-'));
const at = (name: string): string => join(folder, name);
const [source, target] = [at('source'), at('target')];
const range = ['--from', String(FIRST), '--to', String(LAST)];

/** The measured commands. Each writes to the empty folder `target`, or only reads `source`. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'import of NDJSON': [
    'import',
    '--traces',
    at('traces.ndjson'),
    '--headers',
    at('headers.ndjson'),
    '--data-dir',
    target,
  ],
  'import of Parquet': [
    'import',
    '--traces',
    at('traces.parquet'),
    '--headers',
    at('headers.ndjson'),
    '--data-dir',
    target,
  ],
  merge: ['index', '--from-data-dir', source, '--data-dir', target],
  verify: ['verify', '--data-dir', source],
};

async function fill(): Promise<number> {
  const chain = new MainnetLike(1, TRACES_PER_BLOCK);
  const store = openTraceStore(join(source, 'traces'));
  let traces = 0;
  let blocks: IndexedBlock[] = [];
  await store.bindChain({ chainId: 1, genesisHash: chain.block(0).hash });
  for (let number = FIRST; number <= LAST; number++) {
    const made = chain.block(number);
    const block = indexBlock(parseHeader(made.header), parseTraceBlock(made.traces));
    traces += block.block.traceCount;
    blocks.push(block);
    if (blocks.length < BLOCKS_PER_CHANGE && number < LAST) continue;
    await store.apply({ blocks });
    blocks = [];
    progress(number - FIRST + 1, BLOCKS);
  }
  await store.close();
  return traces;
}

interface Run {
  readonly seconds: number;
  /** Processor time of all processes of the command. Other work of the machine hardly changes it. */
  readonly processorSeconds: number;
  /** Highest sum of the resident memory of the processes of the command. */
  readonly bytes: number;
}

/** Runs a command of Floodgate on some cores. Throws if its exit code is not 0. */
async function run(cores: string, args: readonly string[]): Promise<Run> {
  const [started, processorMs] = [performance.now(), childrenMs()];
  const child = spawn(TASKSET, ['-c', cores, process.execPath, BUNDLE, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors = `${errors}${text}`.slice(-2_000);
  });
  let bytes = 0;
  const sampling = setInterval(() => {
    bytes = Math.max(bytes, residentBytes(child.pid ?? 0));
  }, SAMPLE_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(sampling);
  if (code !== 0) throw new Error(`floodgate ${args[0]} exited with code ${code}: ${errors}`);
  const seconds = (performance.now() - started) / 1000;
  return { seconds, processorSeconds: (childrenMs() - processorMs) / 1000, bytes };
}

/** Returns the resident memory of a process and its children. Processes that have ended count as 0. */
function residentBytes(pid: number): number {
  try {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.reduce((sum, child) => sum + residentBytes(Number(child)), 1024 * Number(kilobytes));
  } catch {
    return 0;
  }
}

function show(name: string, runs: readonly (readonly [Run, Run])[], traces: number): void {
  const best = (i: 0 | 1, of: keyof Run): number => Math.min(...runs.map((both) => both[i][of]));
  const most = (i: 0 | 1): string => (Math.max(...runs.map((both) => both[i].bytes)) / MEGABYTE).toFixed(0);
  const value = best(0, 'seconds') / best(1, 'seconds');
  const must = name === 'verify' ? `>= ${LEAST_RATIO}` : '';
  row({ name: `${name}, two cores against one`, value, must, note: '' });
  for (const [i, cores] of [
    [0, 'one core'],
    [1, 'two cores'],
  ] as const) {
    const [seconds, processor] = [best(i, 'seconds'), best(i, 'processorSeconds')];
    const note = `${(BLOCKS / seconds).toFixed(0)} blocks/s; ${(traces / processor).toFixed(0)} traces per processor second; ${most(i)} MB`;
    row({ name: `  ${cores}, traces/s`, value: traces / seconds, must: '', note });
  }
  if (name === 'verify' && value < LEAST_RATIO) process.exitCode = 1;
}

try {
  buildBundle();
  const traces = await fill();
  console.log(`${BLOCKS} blocks, ${traces} traces\n`);
  const from = ['--data-dir', source];
  await run('0,1', [
    'export',
    ...range,
    ...from,
    '--out',
    at('traces.ndjson'),
    '--headers',
    at('headers.ndjson'),
  ]);
  await run('0,1', ['export', ...range, ...from, '--format', 'parquet', '--out', at('traces.parquet')]);
  for (const [name, args] of Object.entries(COMMANDS)) {
    const runs: [Run, Run][] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const both: Run[] = [];
      for (const cores of ['0', '0,1']) {
        rmSync(target, { recursive: true, force: true });
        both.push(await run(cores, args));
      }
      runs.push(both as [Run, Run]);
    }
    show(name, runs, traces);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
