import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';

/** The token that a started server takes for every account. */
export const TOKEN = 'fg_test_token_that_may_do_everything_0000';

export interface RulesServer {
  /** With the version prefix: `http://127.0.0.1:PORT/client/v4`. */
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Everything that the server wrote, on both streams. */
  output(): string;
  /** Ends the server as an operator would, and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ServerOptions {
  /** A folder that outlives the server; a temporary one, removed on stop, where left out. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/** Starts the compiled program with the rules API on a free port, and waits until it listens. */
export async function startServer(options: ServerOptions = {}): Promise<RulesServer> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'floodgate-rules-'));
  const child = spawnGuarded(process.execPath, [PROGRAM, 'start', '--rules-only', ...(options.flags ?? [])], {
    // Away from any floodgate.yaml.
    cwd: dataDir,
    env: {
      ...process.env,
      FLOODGATE_DATA_DIR: dataDir,
      FLOODGATE_API_TOKEN: TOKEN,
      FLOODGATE_PORT: '0',
      ...options.env,
    },
  });
  let written = '';
  child.stdout.on('data', (chunk) => {
    written += chunk;
  });
  const ended = once(child, 'exit');
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      written += `${line}\n`;
      const found = /"url":"(http:[^"]+)"/.exec(line)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${written}`)));
  });
  return {
    baseUrl: `${origin}/client/v4`,
    dataDir,
    process: child,
    output: () => written,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await ended;
      }
      if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
