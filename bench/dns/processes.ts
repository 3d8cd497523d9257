import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onCores } from './cores.ts';
import type { GuardTask } from './guardProcess.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const DNSPERF = '/usr/bin/dnsperf';

/** Returns the names of required programs that are not installed. */
export const missing = (): string[] =>
  ['/usr/sbin/nsd', '/usr/bin/dnsdist', DNSPERF]
    .filter((file) => !existsSync(file))
    .map((file) => file.replace(/.*\//, ''));

export interface GuardChild {
  readonly port: number;
  /** Number of threads that receive queries. */
  readonly threads: number;
  /** Counts of verdicts by their index. */
  verdicts(): Promise<number[]>;
  stop(): Promise<void>;
}

/** Starts the guard in a process of `node`; on the defended cores if attackers have their own. */
export async function forkGuard(
  task: GuardTask,
  { node, hasOwnCores }: { readonly node: string; readonly hasOwnCores: boolean },
): Promise<GuardChild> {
  const args = [here('guardProcess.js'), JSON.stringify(task)];
  const [file, all] = hasOwnCores ? onCores('defended', node, args) : [node, args];
  const child = spawn(file, all, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ port, threads }] = (await once(child, 'message')) as [{ port: number; threads: number }];
  return {
    port,
    threads,
    async verdicts() {
      child.send('verdicts');
      const [{ verdicts }] = (await once(child, 'message')) as [{ verdicts: number[] }];
      return verdicts;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

export interface LegitResult {
  readonly sent: number;
  readonly answered: number;
  readonly p99Ms: number;
}

/** Runs legitimate clients that query known names. */
export async function legitimate(port: number, perSecond: number, seconds: number): Promise<LegitResult> {
  const child = fork(here('legit.js'), [port, perSecond, seconds].map(String));
  const [result] = (await once(child, 'message')) as [LegitResult];
  await once(child, 'exit');
  return result;
}

/** Returns the answered queries per second of closed-loop clients. */
export async function throughput(port: number, queries: string, seconds: number): Promise<number> {
  const flags = [
    '-s',
    '127.0.0.1',
    '-p',
    String(port),
    '-d',
    queries,
    '-l',
    String(seconds),
    '-c',
    '8',
    '-q',
    '200',
  ];
  const { stdout } = await promisify(execFile)(DNSPERF, flags);
  return Number(/Queries per second:\s+([\d.]+)/.exec(stdout)?.[1]);
}

export interface Flood {
  /** Ends the flood, and returns the number of queries sent and its duration. */
  stop(): Promise<{ sent: number; seconds: number }>;
}

/** Starts a flood from many sources; by default one query per second for a random name from each. */
export async function floodOfSources(
  port: number,
  sources: number,
  how?: { readonly flood: string; readonly perSecond: number | undefined },
): Promise<Flood> {
  const args = [here('manySources.js'), String(port), String(sources)];
  if (how !== undefined) args.push(String(how.perSecond ?? 'full'), how.flood);
  const [file, all] =
    how === undefined ? [process.execPath, args] : onCores('attackers', process.execPath, args);
  const child = spawn(file, all, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return {
    async stop() {
      const reported = once(child, 'message') as Promise<[{ sent: number; seconds: number }]>;
      child.send('stop');
      const [figures] = await reported;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
      return figures;
    },
  };
}

/** Starts a flood that does not wait for answers: queries time out after a tenth of a second. */
export function flood(
  port: number,
  queries: string,
  { perSecond, hasOwnCores }: { readonly perSecond?: number; readonly hasOwnCores: boolean },
): Flood {
  const rate = perSecond === undefined ? [] : ['-Q', String(perSecond)];
  const flags = [
    '-s',
    '127.0.0.1',
    '-p',
    String(port),
    '-d',
    queries,
    '-l',
    '600',
    '-c',
    '16',
    '-t',
    '0.1',
    '-q',
    '20000',
  ];
  const [file, args] = hasOwnCores ? onCores('attackers', DNSPERF, flags) : [DNSPERF, flags];
  const child: ChildProcess = spawn(file, [...args, ...rate], { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  const started = performance.now();
  return {
    async stop() {
      const exited = once(child, 'exit');
      const seconds = (performance.now() - started) / 1000;
      child.kill('SIGINT');
      await exited;
      return { sent: Number(/Queries sent:\s+(\d+)/.exec(output)?.[1]), seconds };
    },
  };
}
