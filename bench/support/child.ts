import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { nodeFlagsOf } from '../../test/support/program.ts';

/** A server in a separate process during a benchmark. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts Node.js in a process that ends with this one, also if the benchmark fails. */
function startChild(args: readonly string[], stdout: 'pipe' | 'inherit' | 'ignore'): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'] });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

/** Starts a compiled file of this folder that prints its URL as its first line. */
export async function startScript(name: string, ...args: readonly string[]): Promise<ServerProcess> {
  const child = startChild([fileURLToPath(new URL(name, import.meta.url)), ...args], 'pipe');
  const [url] = await firstLine(child);
  return serverOf(child, url);
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const MAIN = fileURLToPath(new URL('../../../cli/main.js', import.meta.url));
/** The shipped bundle: one file needs a quarter of the processor time of many to start, and 25 MB less memory. */
export const BUNDLE = join(ROOT, 'dist/bundle/floodgate.js');

/** Builds `BUNDLE` with the console, which tsc does not build. */
export function buildBundle(): void {
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.js')], { cwd: ROOT, stdio: 'inherit' });
}

const READY_TIMEOUT_MS = 60_000;

interface StartOptions {
  /** Port of `/readyz`. */
  readonly opsPort?: number;
  /** Path of the program, for example `BUNDLE`. Default: the compiled program in separate files. */
  readonly program?: string;
}

/** Starts Floodgate with the given flags and waits until it is ready. */
export async function startFloodgate(
  port: number,
  flags: readonly string[],
  { opsPort = port, program = MAIN }: StartOptions = {},
): Promise<ServerProcess> {
  const args = [...nodeFlagsOf(program), program, 'start', '--port', String(port)];
  const child = startChild([...args, '--log-level', 'warn', ...flags], 'inherit');
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return serverOf(child, url);
    if (child.exitCode !== null) throw new Error(`floodgate exited with code ${child.exitCode}`);
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error('floodgate did not become ready');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Runs a command of the shipped program. Throws if the exit code is not 0. */
export async function runFloodgate(...args: readonly string[]): Promise<void> {
  const child = startChild([BUNDLE, ...args], 'ignore');
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`floodgate ${args[0]} exited with code ${code}`);
}

/** The kernel counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

/** Returns the time of a process in user and kernel mode: fields 14 and 15, after the name in brackets. */
export const processorMs = (pid: number): number => timeIn(`/proc/${pid}/stat`);

/** Returns the time of the main thread, which runs all JavaScript in Node.js. */
export const mainThreadMs = (pid: number): number => timeIn(`/proc/${pid}/task/${pid}/stat`);

/** Returns the time of all children of this process that have ended, and of theirs: fields 16 and 17. */
export const childrenMs = (): number => timeIn('/proc/self/stat', 13);

/** Returns the sum of two fields. `first` is the index of the first one after the name in brackets. */
function timeIn(file: string, first = 11): number {
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return TICK_MS * (Number(fields[first]) + Number(fields[first + 1]));
}

function serverOf(child: ChildProcess, url: string): ServerProcess {
  return {
    url,
    pid: child.pid ?? 0,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function firstLine(child: ChildProcess): Promise<[string]> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('the child has no standard output');
    createInterface({ input: child.stdout }).once('line', (line) => resolve([line]));
    child.once('exit', (code) => reject(new Error(`the child exited with code ${code}`)));
  });
}
