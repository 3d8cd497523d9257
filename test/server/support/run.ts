import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from '../../support/cleanEnvironment.ts';
import { HANG_MS } from '../../support/hang.ts';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';

/** Root folder of the repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command until it exits. */
export async function run(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const child = spawnGuarded(file, args, { cwd: options.cwd ?? root, env: cleanEnvironment(options.env) });
  const hangs = setTimeout(() => child.kill(), HANG_MS);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null]; // the first argument of 'close'
  clearTimeout(hangs);
  return { code, stdout, stderr };
}

/** Runs `floodgate` with these arguments until it exits. */
export const floodgate = (args: readonly string[], options?: Parameters<typeof run>[2]): Promise<Ended> =>
  run(process.execPath, [PROGRAM, ...args], options);
