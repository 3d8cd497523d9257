/**
 * Chaos test: load on all interfaces while nodes, DNS servers, the disk, clients and the process itself fail, for
 * `--minutes` (10). Exits with code 1 if acknowledged data is lost, an answer is wrong, or the program exits
 * unexpectedly. The process is also killed during the first three fifths of the time; after that it keeps running,
 * and its memory is measured. `--seed` determines the faults, `--faults` (repeatable) selects faults whose names
 * contain a word.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, setGlobalDispatcher } from 'undici';
import { freePort } from '../test/support/freePort.ts';
import { Random } from '../test/support/random.ts';
import { askNames, ZONE_NAME, ZONE_TEXT } from './chaos/dnsLoad.ts';
import {
  DnsServers,
  type Fault,
  mountDisk,
  nodeFaults,
  otherFaults,
  processFaults,
  unmountDisk,
} from './chaos/faults.ts';
import { compareIndexes } from './chaos/fromScratch.ts';
import { askBlocks, askFilters } from './chaos/gatewayLoad.ts';
import { askNewest } from './chaos/headLoad.ts';
import { MemoryWatch } from './chaos/memory.ts';
import { Nodes } from './chaos/nodes.ts';
import { Program } from './chaos/program.ts';
import { RulesLoad } from './chaos/rulesLoad.ts';
import { StableChain } from './chaos/stableChain.ts';
import { rest, type Tally } from './chaos/tally.ts';
import { numberOf, optionsOf } from './support/options.ts';

const values = optionsOf({
  minutes: { type: 'string' },
  seed: { type: 'string' },
  faults: { type: 'string', multiple: true },
});
const MINUTES = numberOf('minutes', values.minutes, { otherwise: 10 });
const SEED = numberOf('seed', values.seed, { otherwise: Date.now() % 100_000 });
const DISK_BYTES = 512 * 1024 * 1024;
const SMALL_CACHE_BYTES = 1024 * 1024;
const KILLS_SHARE = 0.6;
const FAULT_MS = [1_000, 6_000] as const;
const BETWEEN_FAULTS_MS = [300, 2_500] as const;
/** After the last fault, nodes and servers out of use must be in use again by then. */
const CALM_MS = 15_000;
const IDLE_MS = 2_000;

// Idle connections of this process must not count as open descriptors of the program at the end.
setGlobalDispatcher(new Agent({ keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS }));
console.log(`chaos: ${MINUTES} minutes, seed ${SEED}`);

const random = new Random(SEED);
const folder = mkdtempSync(join(tmpdir(), 'floodgate-chaos-'));
const diskFolder = join(folder, 'disk');
mkdirSync(diskFolder);
const disk = mountDisk(diskFolder, DISK_BYTES);
process.once('exit', () => {
  if (disk !== undefined) unmountDisk(disk);
});
const zoneFile = join(folder, 'zone');
writeFileSync(zoneFile, ZONE_TEXT);

const nodes = await Nodes.start(new Random(SEED + 1));
const servers = await DnsServers.start();
const guard = { host: '127.0.0.1', port: await freePort() };
const chainFlags = ['--index-from', '0', '--index-poll-interval-ms', '100', '--log-level', 'warn'];
// A cache allocates memory until it is full, by default for many minutes. A small one is full before the memory slope
// is measured.
const cacheFlags = ['--index-cache-bytes', String(SMALL_CACHE_BYTES)];
const program = new Program({
  port: await freePort(),
  dataDir: join(diskFolder, 'data'),
  logFile: join(folder, 'log'),
  flags: [
    ...nodes.urls.flatMap((url) => ['--upstream', url]),
    ...chainFlags,
    ...cacheFlags,
    '--dns-account',
    'chaos-0',
    '--dns-listen',
    `127.0.0.1:${guard.port}`,
    '--dns-servers',
    ...servers.targets.map(({ host, port }) => `${host}:${port}`),
    '--dns-zones',
    `${ZONE_NAME}=${zoneFile}`,
  ],
});
const chain = new StableChain(nodes.anvil.url);
await chain.follow();
const rules = new RulesLoad(program, new Random(SEED + 2));
await program.start();

const started = performance.now();
const endMs = started + MINUTES * 60_000;
const lastKillMs = started + MINUTES * 60_000 * KILLS_SHARE;
const isFinished = (): boolean => performance.now() > endMs;
const say = (text: string): void =>
  console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${text}`);
const growing = nodes.grow(isFinished);
const following = (async () => {
  while (!isFinished()) {
    await chain.follow();
    await rest(500);
  }
})();
const filters = askFilters({ program, chain, random: new Random(SEED + 3), isFinished });
const calls = askBlocks({ program, chain, random: new Random(SEED + 4), isFinished });
const newest = askNewest({ program, every: nodes.every, random: new Random(SEED + 6), isFinished });
const names = await askNames({ guard, random: new Random(SEED + 5), isFinished });
const writing = rules.run(isFinished);

const others = { program, guard, servers, random, disk, onStarted: () => rules.check() };
const counts = new Map<string, number>();
let memory: MemoryWatch | undefined;
await Promise.all([inTurns(() => nodeFaults(nodes)), inTurns(faultsOfNow)]);
say('no more faults');
await Promise.all([growing, following, filters.ended, calls.ended, newest.ended, names.ended, writing]);
await rest(CALM_MS);
memory?.stop();

await rules.check();
await chain.follow(0);
const scratch = new Program({
  port: await freePort(),
  dataDir: join(folder, 'scratch'),
  logFile: join(folder, 'scratch.log'),
  flags: ['--upstream', nodes.anvil.url, ...chainFlags],
});
await scratch.start();
const indexes = await compareIndexes(program, scratch, chain);
await Promise.all([scratch.end('SIGTERM'), program.end('SIGTERM')]);
await Promise.all([nodes.stop(), servers.stop()]);

report([rules.tally, filters.tally, calls.tally, newest.tally, names.tally, indexes]);
if (process.exitCode === 1) console.log(`logs: ${folder}`);
else {
  if (disk !== undefined) unmountDisk(disk);
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** Returns the faults that are possible now. The process is not killed in the last two fifths of the time. */
function faultsOfNow(): readonly Fault[] {
  if (performance.now() < lastKillMs) return [...otherFaults(others), ...processFaults(others)];
  if (memory === undefined) {
    say(`process ${program.pid} keeps running; measuring its memory`);
    memory = new MemoryWatch(program.pid, program.url);
  }
  return otherFaults(others);
}

async function inTurns(faults: () => readonly Fault[]): Promise<void> {
  while (!isFinished()) {
    const allowed = faults().filter(({ name }) => values.faults?.some((word) => name.includes(word)) ?? true);
    if (allowed.length === 0) {
      await rest(IDLE_MS);
      continue;
    }
    const fault = random.pick(allowed);
    const ms = random.between(...FAULT_MS);
    say(`${fault.name}, ${(ms / 1000).toFixed(1)} s`);
    counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
    await fault.run(ms);
    await rest(random.between(...BETWEEN_FAULTS_MS));
  }
}

function report(tallies: readonly Tally[]): void {
  console.log('\n| load | correct | failed | stale | longest stale, s | wrong |\n|---|---|---|---|---|---|');
  for (const { name, right, failed, stale, longestStaleMs, wrong } of tallies)
    console.log(
      `| ${name} | ${right} | ${failed} | ${stale} | ${(longestStaleMs / 1000).toFixed(1)} | ${wrong} |`,
    );
  console.log('\n| fault | times |\n|---|---|');
  for (const [name, times] of [...counts].sort()) console.log(`| ${name} | ${times} |`);
  if (memory !== undefined) {
    console.log(
      `\n| memory in ${memory.seconds.toFixed(0)} s | first | last | per minute |\n|---|---|---|---|`,
    );
    for (const { kind, firstMb, lastMb, mbPerMinute } of memory.rows())
      console.log(
        `| ${kind} | ${firstMb.toFixed(1)} MB | ${lastMb.toFixed(1)} MB | ${Number.isNaN(mbPerMinute) ? 'too short' : `${mbPerMinute.toFixed(2)} MB`} |`,
      );
    console.log(`| descriptors | ${memory.descriptors.join(' | ')} | |`);
  }
  const wrong = tallies.reduce((sum, tally) => sum + tally.wrong, 0);
  console.log(`\n${wrong} wrong or lost; the program exited unexpectedly ${program.crashes} times`);
  if (wrong > 0 || program.crashes > 0) process.exitCode = 1;
}
