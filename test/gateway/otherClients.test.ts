import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { BYTECODE, KEY, OTHER } from './support/contract.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('./clients/', import.meta.url));
const has = (command: string, args: readonly string[], cwd?: string): boolean =>
  spawnSync(command, args, { cwd, env: { ...process.env, ...OFFLINE } }).status === 0;

/** Go must not download modules during tests. */
const OFFLINE = { GOPROXY: 'off', GOFLAGS: '-mod=readonly', GOWORK: 'off' };

/** The binary that `.ci/install-alloy` builds. */
const ALLOY_CLIENT = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'floodgate/alloy-client/debug/alloy-client',
);

/** Expected output of each client: reads, sent transactions, logs, subscribed logs, a revert, a batch. */
const SEEN = {
  chainId: 31337,
  statuses: [1, 1],
  received: 7,
  logs: [42],
  subscribed: [43],
  revertsWithReason: true,
  batched: true,
};

describe('client libraries of other languages with their defaults', () => {
  let anvil: Anvil;
  let floodgate: Floodgate;
  beforeAll(async () => {
    anvil = await startAnvil({ blockTimeMs: 200 });
    floodgate = await startFloodgate({ upstream: anvil.url, args: ['--index-poll-interval-ms', '100'] });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await anvil?.stop();
  });
  const asked = (): string[] => [floodgate.gatewayUrl, KEY, OTHER, BYTECODE];

  it('web3.py reads, sends transactions, subscribes and decodes errors', async (context) => {
    if (!has('python3', ['-c', "import importlib.util as u, sys; sys.exit(u.find_spec('web3') is None)"]))
      context.skip('web3.py is not installed; run `pip install web3`');
    const { stdout } = await run('python3', [`${folder}web3py.py`, ...asked()]);
    expect(JSON.parse(stdout)).toEqual({ ...SEEN, polled: [42] });
  });

  it('ethclient of go-ethereum reads, sends transactions, subscribes and decodes errors', async (context) => {
    const cwd = `${folder}ethclient`;
    if (!has('go', ['list', '-deps', '.'], cwd))
      context.skip('go or the modules of the client are not installed; run `go mod download` in its folder');
    const env = { ...process.env, ...OFFLINE };
    const { stdout } = await run('go', ['run', '.', ...asked()], { cwd, env });
    expect(JSON.parse(stdout)).toEqual({ ...SEEN, receipts: 1 });
  });

  it('alloy reads, sends transactions and decodes errors', async (context) => {
    if (!existsSync(ALLOY_CLIENT))
      context.skip(
        'the client is not built; run .ci/install-alloy, which requires Rust and takes some minutes',
      );
    const { stdout } = await run(ALLOY_CLIENT, asked());
    const { subscribed: _, ...seen } = SEEN;
    expect(JSON.parse(stdout)).toEqual(seen);
  });

  it('cast of Foundry reads, sends transactions and decodes errors', async (context) => {
    if (!has('cast', ['--version']))
      context.skip('cast is not installed; run foundryup (.ci/run installs it from npm)');
    const url = ['--rpc-url', floodgate.gatewayUrl];
    const cast = async (command: string, ...args: string[]): Promise<string> =>
      (await run('cast', [command, ...url, ...args])).stdout.trim();
    const send = async (...args: string[]): Promise<Record<'status' | 'contractAddress', string>> =>
      JSON.parse(await cast('send', '--private-key', KEY, '--json', ...args));
    const before = BigInt(await cast('balance', OTHER));
    const paid = await send(OTHER, '--value', '7');
    const { contractAddress } = await send('--create', BYTECODE);
    const stored = await send(contractAddress, 'set(uint256)', '42');
    const logs = JSON.parse(await cast('logs', '--json', '--from-block', '0', '--address', contractAddress));
    const reverted: unknown = await cast('call', contractAddress, 'fail()').catch((error) => error);
    expect({
      chainId: Number(await cast('chain-id')),
      statuses: [paid, stored].map(({ status }) => Number(status)),
      received: Number(BigInt(await cast('balance', OTHER)) - before),
      logs: logs.map(({ data }: { data: string }) => Number(data)),
      read: await cast('call', contractAddress, 'get()(uint256)'),
      revertsWithReason: /revert.*\bno\b/.test(String(reverted)),
    }).toEqual({
      chainId: SEEN.chainId,
      statuses: SEEN.statuses,
      received: SEEN.received,
      logs: SEEN.logs,
      read: '42',
      revertsWithReason: true,
    });
  });
});
