import { execFile, spawnSync } from 'node:child_process';
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

/** Go fetches nothing while tests run. */
const OFFLINE = { GOPROXY: 'off', GOFLAGS: '-mod=readonly', GOWORK: 'off' };

/** What a client with its defaults sees: reads, sent transactions, logs, also pushed ones, a revert, a batch. */
const SEEN = {
  chainId: 31337,
  statuses: [1, 1],
  received: 7,
  logs: [42],
  subscribed: [43],
  revertsWithReason: true,
  batched: true,
};

describe('clients of other languages, with their defaults', () => {
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

  it('web3.py', async (context) => {
    if (!has('python3', ['-c', "import importlib.util as u, sys; sys.exit(u.find_spec('web3') is None)"]))
      context.skip('web3.py is not there; `pip install web3` brings it');
    const { stdout } = await run('python3', [`${folder}web3py.py`, ...asked()]);
    expect(JSON.parse(stdout)).toEqual({ ...SEEN, polled: [42] });
  });

  it('ethclient of go-ethereum', async (context) => {
    const cwd = `${folder}ethclient`;
    if (!has('go', ['list', '-deps', '.'], cwd))
      context.skip(
        'go or the modules of the client are not there; `go mod download` in its folder brings these',
      );
    const env = { ...process.env, ...OFFLINE };
    const { stdout } = await run('go', ['run', '.', ...asked()], { cwd, env });
    expect(JSON.parse(stdout)).toEqual({ ...SEEN, receipts: 1 });
  });
});
