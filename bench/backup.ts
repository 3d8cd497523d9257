/**
 * Cost of `floodgate backup` for a running server: requests per second while backups run one after another, against
 * the rate without backups. Both are measured in alternation. Reads query the index; writes are durable changes of
 * rules.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../test/support/freePort.ts';
import { BUNDLE, buildBundle, runFloodgate, startFloodgate, startScript } from './support/child.ts';
import { load } from './support/load.ts';
import { makeChain } from './support/madeChain.ts';
import { addressAt } from './support/mainnetLike.ts';
import { progress, row } from './support/turns.ts';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 400);
const TRACES_PER_BLOCK = 1_000;
const FIRST_BLOCK = 1_024;
const LAST_BLOCK = FIRST_BLOCK + BLOCKS - 1;
const ADDRESSES = 200;
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 8_000);
const TURNS = 5;
const SETTLE_MS = 3_000;
const READERS = 4;
const WRITERS = 4;
/** The documented limit is "by at most a fifth". */
const LEAST_RATIO = 0.8;
const TOKEN = 'fg_benchmark_token_0000000000000000000000000';
const RULES = '/client/v4/accounts/bench/network/advanced_dns_protection/configs/dns_protection/rules';

interface Rates {
  readonly reads: number;
  readonly writes: number;
}

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-backup-'));
const dataDir = join(folder, 'data');
process.env['FLOODGATE_API_TOKEN'] = TOKEN;

async function run(): Promise<boolean> {
  buildBundle();
  makeChain(folder, { first: FIRST_BLOCK, last: LAST_BLOCK, tracesPerBlock: TRACES_PER_BLOCK }, progress);
  const node = await startScript('blockNode.js', folder);
  const flags = ['--data-dir', dataDir, '--upstream', node.url, '--index-from', String(FIRST_BLOCK)];
  const server = await startFloodgate(await freePort(), flags, { program: BUNDLE });
  try {
    const change = await changeOf(server.url);
    await measure(server.url, change);
    const alone: Rates[] = [];
    const beside: Rates[] = [];
    let backups = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      alone.push(await measure(server.url, change));
      const copying = copyUntilStopped();
      beside.push(await measure(server.url, change));
      backups += await copying.stop();
      // The file system still frees the removed backup, which would slow down the next measurement without backups.
      await pause(SETTLE_MS);
    }
    console.log(`${backups} backups in ${(TURNS * TURN_MS) / 1000} s\n`);
    return [show('trace_filter', 'reads'), show('durable change of a rule', 'writes')].every(Boolean);

    function show(name: string, of: keyof Rates): boolean {
      const [without, during] = [
        median(alone.map((rates) => rates[of])),
        median(beside.map((rates) => rates[of])),
      ];
      const value = during / without;
      const note = `${during.toFixed(0)}/s against ${without.toFixed(0)}/s`;
      row({ name: `${name}, during backups`, value, must: `>= ${LEAST_RATIO}`, note });
      return value >= LEAST_RATIO;
    }
  } finally {
    await server.stop();
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs backups one after another; `stop` resolves with their number when the last one has ended. */
function copyUntilStopped(): { stop(): Promise<number> } {
  let isStopped = false;
  const copied = (async () => {
    let backups = 0;
    for (; !isStopped; backups++) {
      const target = join(folder, 'backup');
      await runFloodgate('backup', target, '--data-dir', dataDir);
      rmSync(target, { recursive: true });
    }
    return backups;
  })();
  return {
    stop() {
      isStopped = true;
      return copied;
    },
  };
}

/** Measures requests per second of readers and writers at the same time. */
async function measure(url: string, change: string): Promise<Rates> {
  const filters = Array.from({ length: ADDRESSES }, (_, i) => {
    const filter = { fromBlock: FIRST_BLOCK, toBlock: LAST_BLOCK, fromAddress: [addressAt(i)], count: 200 };
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: i, method: 'trace_filter', params: [filter] }));
  });
  const modes = ['monitoring', 'enabled'].map((mode) => Buffer.from(JSON.stringify({ mode })));
  const headers = { authorization: `Bearer ${TOKEN}` };
  const [reads, writes] = await Promise.all([
    load({ url: `${url}/v1/mainnet`, bodies: filters, connections: READERS, durationMs: TURN_MS }),
    load({ url: change, method: 'PATCH', headers, bodies: modes, connections: WRITERS, durationMs: TURN_MS }),
  ]);
  if (reads.refused + writes.refused > 0)
    throw new Error('some responses were not 200, so the figures are invalid');
  return { reads: reads.requestsPerSecond, writes: writes.requestsPerSecond };
}

/** Creates a rule to change, and returns its URL. */
async function changeOf(url: string): Promise<string> {
  const sensitivities = { profile_sensitivity: 'low', rate_sensitivity: 'low', burst_sensitivity: 'low' };
  const response = await fetch(url + RULES, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ scope: 'global', name: 'global', mode: 'enabled', ...sensitivities }),
  });
  const { result } = (await response.json()) as { result: { id: string } };
  return `${url}${RULES}/${result.id}`;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

if (!(await run())) {
  console.error('a backup slows the server down by more than a fifth');
  process.exitCode = 1;
}
