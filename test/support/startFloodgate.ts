import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import { HANG_MS } from './hang.ts';
import { PROGRAM } from './program.ts';
import { spawnGuarded } from './spawn.ts';

const READY_POLL_MS = 20;

export interface FloodgateOptions {
  /** `start` unless told otherwise. */
  readonly command?: 'start' | 'dev';
  /** Nodes to stand in front of; none: `--rules-only`, unless a config file or `dev` says more. */
  readonly upstream?: string | readonly string[];
  /** Further flags. */
  readonly args?: readonly string[];
  /** Further variables; the test's own FLOODGATE_ variables are not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Becomes the configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A folder that outlives the server; a temporary one, removed when it ends, where left out. */
  readonly dataDir?: string;
  /** Resolve when it listens, ready or not. */
  readonly whenListening?: boolean;
}

export interface Floodgate {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `{url}/v1/mainnet`. */
  readonly gatewayUrl: string;
  /** A token that the rules API accepts for every account. */
  readonly token: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Everything it wrote so far, on both streams. */
  output(): string;
  /** Ends it as an operator would, and waits for its end; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

const TOKEN = 'fg_test_token_that_may_do_everything_0000';

/** Starts the compiled program on a free port and waits until `/readyz` says that it can do its work. */
export async function startFloodgate(options: FloodgateOptions = {}): Promise<Floodgate> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'floodgate-test-'));
  const child = spawnGuarded(process.execPath, [PROGRAM, ...argumentsOf(options, dataDir)], {
    env: { ...foreignVariables(), FLOODGATE_API_TOKEN: TOKEN, ...options.env },
  });
  let written = '';
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        written += `${line}\n`;
        const found = /"url":"(http:[^"]+)".*"msg":"listening"/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
    child.once('close', (code) => reject(new Error(`Floodgate ended with ${code}:\n${written}`)));
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await ended;
    }
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  const floodgate: Floodgate = {
    url,
    gatewayUrl: `${url}/v1/mainnet`,
    token: TOKEN,
    dataDir,
    process: child,
    output: () => written,
    async stop() {
      await end('SIGTERM');
      return child.exitCode;
    },
    kill: () => end('SIGKILL'),
  };
  if (options.whenListening !== true) await ready(floodgate);
  return floodgate;
}

async function ready(floodgate: Floodgate): Promise<void> {
  const deadline = Date.now() + HANG_MS;
  for (;;) {
    const response = await fetch(`${floodgate.url}/readyz`);
    const answer = await response.text();
    if (response.status === 200) return;
    if (Date.now() > deadline) {
      await floodgate.kill();
      throw new Error(`Floodgate is not ready: ${answer}\n${floodgate.output()}`);
    }
    await pause(READY_POLL_MS);
  }
}

function argumentsOf(options: FloodgateOptions, dataDir: string): string[] {
  const { command = 'start', upstream = [], args = [], config } = options;
  const upstreams = typeof upstream === 'string' ? [upstream] : upstream;
  const given = [command, '--port', '0', '--data-dir', dataDir];
  for (const url of upstreams) given.push('--upstream', url);
  if (upstreams.length === 0 && command === 'start' && config === undefined) given.push('--rules-only');
  if (config !== undefined) {
    const file = join(dataDir, 'floodgate.yaml');
    writeFileSync(file, stringify(config));
    given.push('--config', file);
  }
  return [...given, ...args];
}

function foreignVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FLOODGATE_')));
}
