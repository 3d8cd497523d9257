import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { processTree } from '../server/support/processes.ts';
import type { FairnessWorld } from './fairnessServer.ts';
import type { GreedyJob } from './greedyProcess.ts';
import { LineProcess } from './lineProcess.ts';
import type { Mix } from './mix.ts';
import type { Target } from './target.ts';
import type { WatchReport } from './watch.ts';

const SAMPLE_MS = 500;
const POLL_MS = 50;
const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1_000_000;
const NANOSECONDS_PER_SECOND = 1e9;
/** Idle connections between processes of the server are closed after 72 s. */
const MIN_CLOSE_MS = 90_000;
const LOG_CHARACTERS = 3_000;

export interface MixOptions {
  readonly world: FairnessWorld;
  /** Folder of the compiled scripts of the clients. */
  readonly scripts: string;
  readonly workers: number;
  /** Time before the first measurement. */
  readonly warmUpMs: number;
  readonly aloneMs: number;
  readonly mixMs: number;
  /** Factor for the sizes of greedy clients, at most 1. */
  readonly size: number;
  /** Time after which a missing response or head counts as an error. */
  readonly limitMs: number;
}

export interface MixReport {
  readonly mix: Mix;
  readonly workers: number;
  /** Polite clients of a server that has just started. */
  readonly warmUp: readonly WatchReport[];
  /** Polite clients without the greedy clients, and with them. */
  readonly alone: readonly WatchReport[];
  readonly mixed: readonly WatchReport[];
  /** Requests, connections or packets per second of each greedy client. */
  readonly perSecond: readonly number[];
  /** Time for which the main threads of the server ran, and for which they waited for a processor. */
  readonly threads: ThreadSeconds;
  /** Largest resident memory of all processes together. */
  readonly rssMb: number;
  /** Open descriptors of all processes before the greedy clients started, and after all clients ended. */
  readonly descriptors: { readonly before: number; readonly after: number };
  /** Exit code after SIGTERM, or the last log lines if the program ended before. */
  readonly exit: number | null | string;
}

interface ThreadSeconds {
  readonly ran: number;
  readonly waited: number;
}

/** Runs polite clients alone, then next to the greedy clients of a mix, on a new server. */
export async function runMix(mix: Mix, options: MixOptions): Promise<MixReport> {
  const { world, scripts, workers, warmUpMs, aloneMs, mixMs, size, limitMs } = options;
  const { program, target, remove } = await world.server({ isTls: mix.isTls, workers });
  const pid = program.process.pid ?? 0;
  const polite = new LineProcess(join(scripts, 'politeProcess.js'), target);
  const memory = watchMemory(pid);
  const greedy: LineProcess[] = [];
  try {
    await polite.line();
    // Their processes start before the measurements, because attackers have their own machines.
    greedy.push(...mix.greedy.map((client) => startGreedy(scripts, { ...client, target, size })));
    await Promise.all(greedy.map((client) => client.line()));
    await pause(warmUpMs);
    const warmUp = await reportsOf(polite, 'report');
    await pause(aloneMs);
    const alone = await reportsOf(polite, 'report');
    const before = descriptorsOf(pid);
    for (const client of greedy) client.send('begin');
    await Promise.all(greedy.map((client) => client.line()));
    const startedMs = performance.now();
    const threadsBefore = threadSecondsOf(pid);
    await pause(mixMs);
    const mixed = await reportsOf(polite, `stop ${limitMs}`);
    const seconds = (performance.now() - startedMs) / 1_000;
    const { ran, waited } = threadSecondsOf(pid);
    const threads = { ran: ran - threadsBefore.ran, waited: waited - threadsBefore.waited };
    const perSecond = await Promise.all(greedy.map(async (client) => (await countOf(client)) / seconds));
    const hasExited = program.process.exitCode !== null || program.process.signalCode !== null;
    const after = hasExited ? 0 : await descriptorsAtMost(before, pid, Math.max(limitMs, MIN_CLOSE_MS));
    const exit = hasExited ? program.output().slice(-LOG_CHARACTERS) : await program.stop();
    const rssMb = memory.stop();
    return {
      mix,
      workers,
      warmUp,
      alone,
      mixed,
      perSecond,
      threads,
      rssMb,
      descriptors: { before, after },
      exit,
    };
  } finally {
    memory.stop();
    for (const client of [polite, ...greedy]) client.kill('SIGKILL');
    await program.kill();
    remove();
  }
}

const startGreedy = (scripts: string, job: GreedyJob & { readonly target: Target }): LineProcess =>
  new LineProcess(join(scripts, 'greedyProcess.js'), job);

async function reportsOf(polite: LineProcess, command: string): Promise<WatchReport[]> {
  polite.send(command);
  return JSON.parse(await polite.line()) as WatchReport[];
}

async function countOf(greedy: LineProcess): Promise<number> {
  greedy.kill('SIGTERM');
  return (JSON.parse(await greedy.line()) as { count: number }).count;
}

/** Samples the resident memory of a process and its descendants. `stop` returns the maximum in MB. */
function watchMemory(pid: number): { stop(): number } {
  let maxMb = 0;
  const sample = (): void => {
    const bytes = processTree(pid).reduce((sum, one) => sum + residentBytes(one), 0);
    maxMb = Math.max(maxMb, bytes / BYTES_PER_MB);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return maxMb;
    },
  };
}

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) * BYTES_PER_KB;

/** Reads the times of the main threads of a process and its descendants. */
function threadSecondsOf(pid: number): ThreadSeconds {
  let [ran, waited] = [0, 0];
  for (const one of processTree(pid)) {
    const [ranNs = 0, waitedNs = 0] = textOf(`/proc/${one}/schedstat`).split(' ').map(Number);
    ran += ranNs / NANOSECONDS_PER_SECOND;
    waited += waitedNs / NANOSECONDS_PER_SECOND;
  }
  return { ran, waited };
}

/** Returns the text of a file below /proc; an empty text if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const descriptorsOf = (pid: number): number =>
  processTree(pid).reduce((sum, one) => {
    try {
      return sum + readdirSync(`/proc/${one}/fd`).length;
    } catch {
      return sum; // the process has ended
    }
  }, 0);

/** Waits until the processes have at most `limit` open descriptors. Returns the last number. */
async function descriptorsAtMost(limit: number, pid: number, limitMs: number): Promise<number> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    const open = descriptorsOf(pid);
    if (open <= limit || performance.now() > endMs) return open;
    await pause(POLL_MS);
  }
}
