import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProcess } from './anvil.ts';
import { type Geth, type GethOptions, genesisOf } from './geth.ts';

const SOURCE = fileURLToPath(new URL('exactgeth/', import.meta.url));
const ENV = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly', GOWORK: 'off' };
const LISTENING = /^listening on (http:\S+)$/;

const run = promisify(execFile);

/** Reason why tests that need the geth with exact gas are skipped. */
export const NO_EXACT_GETH =
  'go or the modules of go-ethereum are not installed; run .ci/run, or `go mod download` in test/support/exactgeth';

/** Whether Go and the modules of the geth with exact gas are installed. */
export function hasExactGeth(): Promise<boolean> {
  return run('go', ['list', '-deps', '.'], { cwd: SOURCE, env: ENV, maxBuffer: 2 ** 24 }).then(
    () => true,
    () => false,
  );
}

/**
 * Builds and starts a geth whose `exactTracer` returns the frames of transactions in Parity's form, with the exact gas
 * of all frames. `search_mine` makes a block of the pending transactions. The first build takes about three minutes.
 */
export async function startExactGeth(options: GethOptions): Promise<Geth> {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-exactgeth-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const [file, genesis] = [join(folder, 'exactgeth'), join(folder, 'genesis.json')];
    await run('go', ['build', '-o', file, '.'], { cwd: SOURCE, env: ENV });
    await writeFile(genesis, JSON.stringify(await genesisOf(options)));
    const geth = await startProcess({ name: 'exactgeth', file, args: [genesis], ready: LISTENING });
    return { url: geth.match, stop: () => geth.stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
