import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ACCOUNTS, type Node, NodeError, startProcess } from '../../src/devchain/index.ts';

/** What anvil gives each of its accounts, in wei. */
const BALANCE = `0x${(10_000n * 10n ** 18n).toString(16)}`;
/** geth mines a transaction within some milliseconds. */
const POLL_MS = 2;

/** The line that geth logs once its HTTP server listens. */
const LISTENING = /HTTP server started\s.*endpoint=(127\.0\.0\.1:\d+)/;

export interface Geth {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The path of a geth to test with: `FLOODGATE_TEST_GETH`, the one that `.ci/run` installs, or the one on the PATH.
 * Undefined where there is none; the tests that need it say so and are skipped.
 */
export function gethBinary(): string | undefined {
  const { FLOODGATE_TEST_GETH, XDG_CACHE_HOME, PATH } = process.env;
  if (FLOODGATE_TEST_GETH) return FLOODGATE_TEST_GETH;
  const installed = join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'floodgate', 'bin');
  return [installed, ...(PATH ?? '').split(delimiter)].map((folder) => join(folder, 'geth')).find(isProgram);
}

/** Why a test that needs geth is skipped. */
export const NO_GETH =
  'geth is not installed: run .ci/run where Go is present, or set FLOODGATE_TEST_GETH to its path';

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts geth in developer mode on a chain with anvil's chain id, anvil's rules and anvil's accounts, as rich as they
 * are there. It mines a block as soon as a transaction comes in, keeps all states and answers `debug_` over HTTP.
 */
export async function startGeth(binary: string): Promise<Geth> {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-geth-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const genesis = join(folder, 'genesis.json');
    await writeFile(genesis, JSON.stringify(await genesisWithAccounts()));
    await promisify(execFile)(binary, ['init', ...STATE, '--datadir', folder, genesis]);
    const geth = await startProcess({ name: 'geth', file: binary, args: flags(folder), ready: LISTENING });
    return { url: `http://${geth.match}`, stop: () => geth.stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * geth's own developer genesis runs rules of the future, with other gas costs than anvil's. Ours stops at Osaka, and
 * holds the contracts that each block calls (EIP-4788, 2935, 7002 and 7251).
 */
async function genesisWithAccounts(): Promise<object> {
  const genesis = JSON.parse(await readFile(new URL('gethGenesis.json', import.meta.url), 'utf8'));
  const accounts = ACCOUNTS.map(({ address }) => [address.slice(2), { balance: BALANCE }]);
  return { ...genesis, alloc: { ...genesis.alloc, ...Object.fromEntries(accounts) } };
}

/** Resolves when a transaction is in a block. */
export async function mined(node: Node, hash: string): Promise<void> {
  while (!(await hasReceipt(node, hash))) await pause(POLL_MS);
}

/** A geth that has just started cannot tell yet: it answers that its index of transactions is being built. */
const STILL_INDEXING = /indexing is in progress/;

async function hasReceipt(node: Node, hash: string): Promise<boolean> {
  try {
    return (await node.call('eth_getTransactionReceipt', hash)) !== null;
  } catch (error) {
    if (error instanceof NodeError && STILL_INDEXING.test(error.message)) return false;
    throw error;
  }
}

/** The layout that keeps every state for as long as the test runs. */
const STATE = ['--state.scheme', 'hash'];

function flags(folder: string): string[] {
  return [
    '--dev',
    ...['--datadir', folder],
    ...['--http', '--http.addr', '127.0.0.1', '--http.port', '0', '--http.api', 'eth,debug,net,web3'],
    ...['--authrpc.port', '0', '--port', '0', '--nodiscover', '--maxpeers', '0', '--ipcdisable'],
    ...[...STATE, '--gcmode', 'archive', '--cache', '64'],
    ...['--miner.gasprice', '1', '--txpool.pricelimit', '1'],
  ];
}
