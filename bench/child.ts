import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server in a process of its own, for the length of a benchmark. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a file of this folder, compiled beside this one, that prints its URL as its first line. */
export async function startScript(name: string, ...args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(name, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await firstLine(child);
  return serverOf(child, url);
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
/** As it is shipped: one file starts in a quarter of the processor time that many take, and needs 25 MB less. */
export const BUNDLE = join(ROOT, 'dist/bundle/floodgate.js');

/** Builds `BUNDLE`, with the console, which the compiler does not make. */
export function buildBundle(): void {
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.js')], { cwd: ROOT, stdio: 'inherit' });
}

const READY_TIMEOUT_MS = 60_000;

interface StartOptions {
  /** Where operators ask whether it is ready. */
  readonly opsPort?: number;
  /** `BUNDLE`, or another. Left out: the program as it is compiled, file by file. */
  readonly program?: string;
}

/** Starts Floodgate with the given flags and waits until it is ready. */
export async function startFloodgate(
  port: number,
  flags: readonly string[],
  { opsPort = port, program = MAIN }: StartOptions = {},
): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [program, 'start', '--port', String(port), '--log-level', 'warn', ...flags],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return serverOf(child, url);
    if (child.exitCode !== null) throw new Error(`floodgate ended with exit code ${child.exitCode}`);
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error('floodgate did not become ready');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Runs a command of Floodgate's, as it is shipped, to its end. Throws where that is not a good one. */
export async function runFloodgate(...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [BUNDLE, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`floodgate ${args[0]} ended with exit code ${code}`);
}

/** The kernel counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

/** Time of a process in user and kernel mode: the 14th and 15th field, after the name in brackets. */
export const processorMs = (pid: number): number => timeIn(`/proc/${pid}/stat`);

/** The same of its first thread: in Node.js, all that is JavaScript. */
export const mainThreadMs = (pid: number): number => timeIn(`/proc/${pid}/task/${pid}/stat`);

function timeIn(file: string): number {
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return TICK_MS * (Number(fields[11]) + Number(fields[12]));
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
    child.once('exit', (code) => reject(new Error(`the child ended with exit code ${code}`)));
  });
}
