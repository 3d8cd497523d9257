import { once } from 'node:events';
import { tmpdir } from 'node:os';
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

/** Runs `floodgate …` to its end, away from any configuration of this machine. */
export async function floodgate(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('FLOODGATE_'));
  const child = spawnGuarded(process.execPath, [PROGRAM, ...args], {
    cwd: tmpdir(),
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
  return { status: status as number | null, stdout, stderr };
}

/** The variables with which a command talks to a server as the one who may do everything. */
export function environmentOf(server: RulesServer, account: string): Record<string, string> {
  return { FLOODGATE_URL: server.baseUrl, FLOODGATE_ACCOUNT: account, FLOODGATE_TOKEN: TOKEN };
}
