import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Address, Data } from '../../src/ethereum/traces/index.ts';
import { ACCOUNTS, type Node, NodeError, startProcess } from './anvil.ts';

/** Initial balance of anvil's accounts, in wei. */
const BALANCE = `0x${(10_000n * 10n ** 18n).toString(16)}`;
/** geth mines a transaction within a few milliseconds. */
const POLL_MS = 2;

/** geth logs this line when its HTTP server listens. */
const LISTENING = /HTTP server started\s.*endpoint=(127\.0\.0\.1:\d+)/;

export interface Geth {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Returns the path of a geth for tests: `FLOODGATE_TEST_GETH`, the one that `.ci/run` installs, or the one on the
 * PATH. Returns undefined if there is none; tests that need it are then skipped.
 */
export function gethBinary(): string | undefined {
  const { FLOODGATE_TEST_GETH, XDG_CACHE_HOME, PATH } = process.env;
  if (FLOODGATE_TEST_GETH) return FLOODGATE_TEST_GETH;
  const installed = join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'floodgate', 'bin');
  return [installed, ...(PATH ?? '').split(delimiter)].map((folder) => join(folder, 'geth')).find(isProgram);
}

/** Reason why tests that need geth are skipped. */
export const NO_GETH =
  'geth is not installed: run .ci/run with Go installed, or set FLOODGATE_TEST_GETH to its path';

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface GethOptions {
  /** Fork of all blocks. Default: `osaka`, as in anvil. */
  readonly fork?: 'osaka' | 'amsterdam';
  /** Code of accounts of the genesis block, by address. */
  readonly code?: ReadonlyMap<Address, Data>;
}

/**
 * Starts geth in developer mode on a chain with anvil's chain id, fork rules, accounts and balances. It mines a block
 * as soon as it receives a transaction, keeps all states and serves `debug_` methods over HTTP.
 */
export async function startGeth(binary: string, options: GethOptions = {}): Promise<Geth> {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-geth-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const genesis = join(folder, 'genesis.json');
    const { alloc, ...members } = await genesisOf(options);
    const contracts = options.fork === 'amsterdam' ? await systemContracts(binary) : {};
    await writeFile(genesis, JSON.stringify({ ...members, alloc: { ...contracts, ...alloc } }));
    await promisify(execFile)(binary, ['init', ...STATE, '--datadir', folder, genesis]);
    const geth = await startProcess({ name: 'geth', file: binary, args: flags(folder), ready: LISTENING });
    return { url: `http://${geth.match}`, stop: () => geth.stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * geth's own developer genesis enables future forks with gas costs that differ from anvil's. This genesis stops at
 * Osaka, and contains the system contracts that each block calls (EIP-4788, 2935, 7002 and 7251), but not those of
 * Amsterdam.
 */
export async function genesisOf({ fork, code = new Map() }: GethOptions) {
  const genesis = JSON.parse(await readFile(new URL('gethGenesis.json', import.meta.url), 'utf8'));
  const accounts = ACCOUNTS.map(({ address }) => [address.slice(2), { balance: BALANCE }]);
  const contracts = [...code].map(([address, code]) => [
    address.slice(2),
    { balance: BALANCE, code, nonce: '0x1' },
  ]);
  const alloc = { ...genesis.alloc, ...Object.fromEntries([...accounts, ...contracts]) };
  if (fork !== 'amsterdam') return { ...genesis, alloc };
  const blobSchedule = { ...genesis.config.blobSchedule, amsterdam: genesis.config.blobSchedule.osaka };
  return { ...genesis, config: { ...genesis.config, blobSchedule, amsterdamTime: 0 }, alloc };
}

/** Returns the system contracts of geth's own developer genesis, which has those of Amsterdam (EIP-8282). */
async function systemContracts(binary: string): Promise<object> {
  const { stdout } = await promisify(execFile)(binary, ['--dev', 'dumpgenesis']);
  return JSON.parse(stdout).alloc;
}

/** Resolves when a transaction is in a block. */
export async function mined(node: Node, hash: string): Promise<void> {
  while (!(await hasReceipt(node, hash))) await pause(POLL_MS);
}

/** Error of a geth that has just started and still builds its index of transactions. */
const STILL_INDEXING = /indexing is in progress/;

async function hasReceipt(node: Node, hash: string): Promise<boolean> {
  try {
    return (await node.call('eth_getTransactionReceipt', hash)) !== null;
  } catch (error) {
    if (error instanceof NodeError && STILL_INDEXING.test(error.message)) return false;
    throw error;
  }
}

/** This state scheme keeps every state for the whole test. */
const STATE = ['--state.scheme', 'hash'];

function flags(folder: string): string[] {
  return [
    '--dev',
    '--datadir',
    folder,
    '--http',
    '--http.addr',
    '127.0.0.1',
    '--http.port',
    '0',
    '--http.api',
    'eth,debug,net,web3',
    '--authrpc.port',
    '0',
    '--port',
    '0',
    '--nodiscover',
    '--maxpeers',
    '0',
    '--ipcdisable',
    ...STATE,
    '--gcmode',
    'archive',
    '--cache',
    '64',
    '--miner.gasprice',
    '1',
    '--txpool.pricelimit',
    '1',
  ];
}
