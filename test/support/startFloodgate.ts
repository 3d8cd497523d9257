import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Tuning } from '../../src/server/index.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { HANG_MS } from './hang.ts';
import { nodeFlagsOf, PROGRAM } from './program.ts';
import { runHosted } from './runHosted.ts';
import { type Running, type RunningProgram, runProgram } from './runProgram.ts';

const READY_POLL_MS = 20;

export interface FloodgateOptions {
  /**
   * Ethereum nodes of the gateway. Default without `config` and `--role`: the rules API, and the guard if
   * `--dns-account` is present.
   */
  readonly upstream?: string | readonly string[];
  /** Additional command-line arguments. */
  readonly args?: readonly string[];
  /** Additional environment variables; FLOODGATE_ variables of the test are not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Content of the configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A data folder that outlives the server. Default: a temporary one, removed when the server stops. */
  readonly dataDir?: string;
  /** Whether to resolve as soon as the server listens, even if it is not ready. */
  readonly whenListening?: boolean;
}

export interface Floodgate extends Running {
  /** `{url}/v1/mainnet`. */
  readonly gatewayUrl: string;
  /** A token that the rules API accepts for every account. */
  readonly token: string;
  readonly dataDir: string;
}

export type FloodgateProcess = Floodgate & RunningProgram;

/** The token that a started server accepts for every account. */
export const TOKEN = 'fg_test_token_that_may_do_everything_0000';

export interface HostedOptions extends FloodgateOptions {
  /** Replaces constants of the server. Not available in `startFloodgateProcess`. */
  readonly tuning?: Tuning;
}

/** Starts a server on a free port and waits until `/readyz` reports that it is ready. */
export async function startFloodgate(options: HostedOptions = {}): Promise<Floodgate> {
  const { args, env, ...place } = placeOf(options);
  const { tuning } = options;
  const floodgate = floodgateOf(await runHosted({ args, env, tuning }), place);
  if (options.whenListening !== true) await ready(floodgate);
  return floodgate;
}

export interface ProcessOptions extends FloodgateOptions {
  /** Limit of open files of the process. Default: the limit of the test. */
  readonly maxOpenFiles?: number;
}

/** Starts a server like `startFloodgate`, but in a separate process. */
export async function startFloodgateProcess(options: ProcessOptions = {}): Promise<FloodgateProcess> {
  const { args, env, ...place } = placeOf(options);
  const { maxOpenFiles } = options;
  const limited = `ulimit -n ${maxOpenFiles} && exec "$0" "$@"`;
  const running = await runProgram(['start', ...args], {
    env,
    ...(maxOpenFiles !== undefined && {
      command: ['sh', '-c', limited, process.execPath, ...nodeFlagsOf(PROGRAM), PROGRAM],
    }),
  });
  const floodgate = {
    ...floodgateOf(running, place),
    process: running.process,
    kill: () => running.kill().then(place.remove),
  };
  if (options.whenListening !== true) await ready(floodgate);
  return floodgate;
}

interface Place {
  readonly dataDir: string;
  /** Removes the data folder if it is temporary. */
  readonly remove: () => void;
}

function placeOf(options: FloodgateOptions): Place & { args: readonly string[]; env: NodeJS.ProcessEnv } {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'floodgate-test-'));
  const env = cleanEnvironment({ FLOODGATE_API_TOKEN: TOKEN, ...options.env });
  const remove = (): void => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  return { dataDir, remove, args: argumentsOf(options, dataDir), env };
}

function floodgateOf(running: Running, { dataDir, remove }: Place): Floodgate {
  return {
    ...running,
    gatewayUrl: `${running.url}/v1/mainnet`,
    token: TOKEN,
    dataDir,
    async stop() {
      const code = await running.stop();
      remove();
      return code;
    },
  };
}

async function ready(floodgate: Floodgate): Promise<void> {
  const deadline = Date.now() + HANG_MS;
  for (;;) {
    const response = await fetch(`${floodgate.url}/readyz`);
    const answer = await response.text();
    if (response.status === 200) return;
    if (Date.now() > deadline) {
      await floodgate.stop();
      throw new Error(`Floodgate is not ready: ${answer}\n${floodgate.output()}`);
    }
    await pause(READY_POLL_MS);
  }
}

function argumentsOf(options: FloodgateOptions, dataDir: string): string[] {
  const { upstream = [], args = [], config } = options;
  const upstreams = typeof upstream === 'string' ? [upstream] : upstream;
  const given = ['--port', '0', '--data-dir', dataDir];
  for (const url of upstreams) given.push('--upstream', url);
  if (upstreams.length === 0 && config === undefined && !args.includes('--role'))
    given.push('--role', args.includes('--dns-account') ? 'rules,guard' : 'rules');
  if (config !== undefined) {
    const file = join(dataDir, 'floodgate.yaml');
    writeFileSync(file, stringify(config));
    given.push('--config', file);
  }
  return [...given, ...args];
}
