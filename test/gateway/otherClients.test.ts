import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { CLIENTS, has, hasClient, hasPython, NO_CLIENTS, run } from './support/clients.ts';
import { BYTECODE, KEY, OTHER } from './support/contract.ts';

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

describe('client libraries with their defaults', () => {
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
    if (!hasPython('web3')) context.skip('web3.py is not installed; run `pip install web3`');
    const { stdout } = await run('python3', [`${CLIENTS}web3py.py`, ...asked()]);
    expect(JSON.parse(stdout)).toEqual({ ...SEEN, polled: [42] });
  });

  it('ethers 5 reads, sends transactions, subscribes and decodes errors', async (context) => {
    if (!hasClient('ethers5')) context.skip(NO_CLIENTS);
    const { stdout } = await run('node', [`${CLIENTS}ethers5.js`, ...asked()]);
    expect(JSON.parse(stdout)).toEqual(SEEN);
  });

  // web3.js 1 has 370 packages, which is too much for .ci/run.
  it.for([
    ['4', NO_CLIENTS],
    ['1', 'it is not installed; run `npm install --no-save --prefix .ci/clients web3-1@npm:web3@1`'],
  ] as const)(
    'web3.js %s reads, sends transactions, subscribes and decodes errors',
    async (client, context) => {
      const [version, reason] = client;
      if (!hasClient(`web3-${version}`)) context.skip(reason);
      const { stdout } = await run('node', [`${CLIENTS}web3.js`, ...asked(), `web3-${version}`]);
      expect(JSON.parse(stdout)).toEqual(SEEN);
    },
  );

  it('ethclient of go-ethereum reads, sends transactions, subscribes and decodes errors', async (context) => {
    const cwd = `${CLIENTS}ethclient`;
    const env = { ...process.env, ...OFFLINE };
    if (!has('go', ['list', '-deps', '.'], { cwd, env }))
      context.skip('go or the modules of the client are not installed; run `go mod download` in its folder');
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
