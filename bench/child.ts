import { type ChildProcess, spawn } from 'node:child_process';
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

const MAIN = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const READY_TIMEOUT_MS = 60_000;

/** Starts Floodgate with the given flags and waits until it is ready. */
export async function startFloodgate(port: number, flags: readonly string[]): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [MAIN, 'start', '--port', String(port), '--log-level', 'warn', ...flags],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return serverOf(child, url);
    if (child.exitCode !== null) throw new Error(`floodgate ended with exit code ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error('floodgate did not become ready');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
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
