import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';
import { type RulesServer, TOKEN } from './server.ts';

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Runs `floodgate …` in an empty folder and without the FLOODGATE_ variables of this machine. */
export async function floodgate(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('FLOODGATE_'));
  const cwd = mkdtempSync(join(tmpdir(), 'floodgate-command-'));
  const child = spawnGuarded(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdin: 'pipe',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin?.end(options.stdin ?? '');
  const [status] = await once(child, 'close');
  rmSync(cwd, { recursive: true, force: true });
  return { status: status as number | null, stdout, stderr };
}

/** Returns the environment with which a command uses the server's configured token, which has all permissions. */
export function clientEnvironment(server: RulesServer, account: string): Record<string, string> {
  return { FLOODGATE_URL: server.baseUrl, FLOODGATE_ACCOUNT: account, FLOODGATE_TOKEN: TOKEN };
}
