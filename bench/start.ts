/**
 * The start of the installed package: from exec until it logs that it listens, and until the first response, against
 * a bare node:http server started in alternation. The store has rules, keys and the traces of 400 blocks, or is new.
 * Compare the processor time, which excludes other work of the machine.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { installedNode, newerNode } from '../test/support/newerNode.ts';
import { startScript } from './support/child.ts';
import { makeChain } from './support/madeChain.ts';
import { progress, row } from './support/turns.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 10);
const BLOCKS = { first: 1, last: 400, tracesPerBlock: 100 };
const RULES = 100;
const TARGET_MS = 400;
const POLL_MS = 100;
const NANOSECONDS_PER_MS = 1e6;

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const dataDir = join(folder, 'data');
const ACCOUNT = 'bench';
const TOKEN = 'a-token-of-the-benchmark';
const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: join(folder, 'cache'), FLOODGATE_API_TOKEN: TOKEN };

const BARE = `require('node:http').createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1', function () {
  console.log('"url":"http://127.0.0.1:' + this.address().port + '"');
})`;

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  /** From exec until it logs that it listens. */
  readonly listening: Spent;
  /** From exec to the first response. */
  readonly answering: Spent;
}

interface Spent {
  readonly wallMs: number;
  /** Sum over all threads. */
  readonly processorMs: number;
  readonly mainThreadMs: number;
}

/** Starts a server that prints its URL, and sends a request. */
async function start(file: string, args: readonly string[], path: string): Promise<Started> {
  const startMs = performance.now();
  const child = spawn(file, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const spent = (): Spent => ({ wallMs: performance.now() - startMs, ...processorTime(child.pid) });
  const [url, listening] = await new Promise<[string, Spent]>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        const [, reported] = /"url":"([^"]+)"/.exec(line) ?? [];
        if (reported !== undefined) resolve([reported, spent()]);
      });
    child.once('exit', (code) => reject(new Error(`${file} ${args[0]} exited with ${code}`)));
  });
  await new Promise<void>((resolve, reject) => {
    get(url + path, (response) => response.resume().once('end', resolve)).once('error', reject);
  });
  return { child, url, listening, answering: spent() };
}

/** Returns the processor time from Linux' schedstat. */
function processorTime(pid: number | undefined): Omit<Spent, 'wallMs'> {
  const tasks = `/proc/${pid}/task`;
  const ofTask = (task: string): number =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / NANOSECONDS_PER_MS;
  const all = readdirSync(tasks).map(ofTask);
  return { processorMs: all.reduce((sum, ms) => sum + ms, 0), mainThreadMs: ofTask(String(pid)) };
}

async function stop({ child }: Started): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Installs the program like a user: `npm pack`, then `npm install` of the file in another folder. */
function install(): string {
  const npm = (cwd: string, ...args: string[]): string =>
    execFileSync(
      'npm',
      [...args, '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--silent'],
      {
        cwd,
        encoding: 'utf8',
      },
    );
  const packed = npm(root, 'pack', '--pack-destination', folder).trim().split('\n').at(-1) ?? '';
  writeFileSync(join(folder, 'package.json'), '{}');
  npm(folder, 'install', join(folder, packed));
  return join(folder, 'node_modules/floodgate/dist/bundle/floodgate.js');
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >>> 1] ?? Number.NaN;

const listeningOf = (values: readonly number[]): string =>
  `${median(values).toFixed(0)} ms, minimum ${Math.min(...values).toFixed(0)} ms (target: below ${TARGET_MS} ms of time)`;

async function fill(program: string, flags: readonly string[]): Promise<void> {
  const first = await start(process.execPath, [program, ...flags, '--index-from', '1'], '/healthz');
  const rules = `${first.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/rules`;
  const sensitivity = { rate_sensitivity: 'low', burst_sensitivity: 'low', profile_sensitivity: 'low' };
  for (let n = 0; n < RULES; n++) {
    const rule = { scope: 'datacenter', name: `dc${n}`, mode: 'monitoring', ...sensitivity };
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const { ok } = await fetch(rules, { method: 'POST', headers, body: JSON.stringify(rule) });
    if (!ok) throw new Error('a rule could not be created');
  }
  const isFilled = async (): Promise<boolean> => {
    const metrics = await (await fetch(`${first.url}/metrics`)).text();
    return (
      new RegExp(`^floodgate_index_head_block\\S* ${BLOCKS.last}$`, 'm').test(metrics) &&
      /^floodgate_index_first_missing_block\S* -1$/m.test(metrics)
    );
  };
  while (!(await isFilled())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  await stop(first);
}

try {
  const program = install();
  const chain = join(folder, 'chain');
  mkdirSync(chain);
  makeChain(chain, BLOCKS, progress);
  const node = await startScript('blockNode.js', chain);
  const guard = ['--dns-account', ACCOUNT, '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
  const flags = ['start', '--port', '0', '--data-dir', dataDir, '--upstream', node.url, ...guard];
  await fill(program, flags);
  const nodes = [process.execPath, installedNode(22), newerNode()].filter((file) => file !== undefined);
  for (const file of new Set(nodes)) {
    const version = execFileSync(file, ['--version'], { encoding: 'utf8' }).trim();
    const results: Record<'bare' | 'filled' | 'new', Started[]> = { bare: [], filled: [], new: [] };
    const newFolder = join(folder, 'new');
    const turns = [
      ['bare', ['-e', BARE], '/'],
      ['filled', [program, ...flags], '/healthz'],
      ['new', [program, ...flags, '--data-dir', newFolder], '/healthz'],
    ] as const;
    // The first start of each fills the caches of disk and compiler, and is not counted.
    for (let round = 0; round <= ROUNDS; round++)
      for (const [name, args, path] of turns) {
        const started = await start(file, args, path);
        await stop(started);
        if (round > 0) results[name].push(started);
        rmSync(newFolder, { recursive: true, force: true });
      }
    const valuesOf = (name: keyof typeof results, when: 'listening' | 'answering', what: keyof Spent) =>
      results[name].map((one) => one[when][what]);
    for (const store of ['filled', 'new'] as const)
      for (const [what, words] of [
        ['processorMs', 'processor time'],
        ['mainThreadMs', 'main thread'],
        ['wallMs', 'time'],
      ] as const) {
        const ours = median(valuesOf(store, 'answering', what));
        const bare = median(valuesOf('bare', 'answering', what));
        row({
          name: `${version}, ${store} store: ${words} to the first response, against bare node:http`,
          value: ours / bare,
          must: '',
          note: `${ours.toFixed(0)} ms against ${bare.toFixed(0)} ms; until it listens ${listeningOf(valuesOf(store, 'listening', what))}`,
        });
      }
  }
  await node.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
