import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { ANNA } from '../support/traffic/cast.ts';
import { until } from '../support/until.ts';
import { CLIENTS, has, hasClient, NO_CLIENTS, run } from './support/clients.ts';

const MODULES = fileURLToPath(new URL('../../.ci/clients/node_modules/', import.meta.url));

/** Files of a Ponder project that prints the events of all blocks, and of the transfers to an address. */
const PONDER_PROJECT = {
  'package.json': '{ "type": "module" }',
  'ponder.schema.ts': 'export {};',
  'ponder.config.ts': `import { createConfig } from 'ponder';
    export default createConfig({
      chains: { mainnet: { id: 31337, rpc: process.env.GATEWAY } },
      blocks: { Every: { chain: 'mainnet', startBlock: 0, interval: 1 } },
      accounts: { Anna: { chain: 'mainnet', address: '${ANNA}', startBlock: 0 } },
    });`,
};
const PONDER_SOURCES = {
  'index.ts': `import { ponder } from 'ponder:registry';
    ponder.on('Every:block', ({ event }) => console.log('block', Number(event.block.number)));
    ponder.on('Anna:transfer:to', ({ event }) => console.log('transfer', event.transaction.hash));`,
  'api/index.ts': "import { Hono } from 'hono'; export default new Hono();",
};

interface Trace {
  readonly transactionHash: string;
  readonly traceAddress: readonly number[];
}

describe('tools that need gateway.debugTracers, with their defaults', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  let folder: string;
  let blocks: Trace[][];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-tools-'));
    chain = await startSharedChain();
    floodgate = await startFloodgate({
      upstream: chain.anvil.url,
      args: ['--gateway-debug-tracers', 'callTracer', '--index-poll-interval-ms', '50'],
    });
    const gateway = connect(floodgate.gatewayUrl);
    const numbers = Array.from({ length: chain.head + 1 }, (_, number) => `0x${number.toString(16)}`);
    blocks = await Promise.all(numbers.map((number) => gateway.call<Trace[]>('trace_block', number)));
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('Subsquid reads all traces with debug_traceBlockByHash', async (context) => {
    if (!hasClient('@subsquid/evm-processor')) context.skip(NO_CLIENTS);
    const args = [`${CLIENTS}subsquid.js`, floodgate.gatewayUrl, String(chain.head)];
    const { traces } = JSON.parse((await run('node', args)).stdout);
    // callTracer also returns calls of precompiled contracts, so only the roots are equal.
    const roots = blocks.flat().filter(({ traceAddress }) => traceAddress.length === 0);
    expect(traces.filter(([, path]: string[]) => path === '').map(([hash]: string[]) => hash)).toEqual(
      roots.map(({ transactionHash }) => transactionHash),
    );
  });

  it('Ponder reads all blocks, and transfers with debug_traceBlockByNumber', async (context) => {
    if (!hasClient('ponder'))
      context.skip(
        'it is not installed; run `npm install --no-save --prefix .ci/clients ponder@0.16.6 hono@4`',
      );
    mkdirSync(join(folder, 'src/api'), { recursive: true });
    for (const [file, text] of Object.entries(PONDER_PROJECT)) writeFileSync(join(folder, file), text);
    for (const [file, text] of Object.entries(PONDER_SOURCES)) writeFileSync(join(folder, 'src', file), text);
    symlinkSync(MODULES, join(folder, 'node_modules'));
    const program = join(MODULES, 'ponder/dist/esm/bin/ponder.js');
    const ponder = spawnGuarded('node', [program, 'start', '--schema', 'tools', '--port', '0'], {
      cwd: folder,
      env: cleanEnvironment({ GATEWAY: floodgate.gatewayUrl, PONDER_TELEMETRY_DISABLED: '1' }),
    });
    let output = '';
    for (const stream of [ponder.stdout, ponder.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    const seen = (event: string) =>
      [...output.matchAll(new RegExp(`^${event} (\\w+)$`, 'gm'))].map(([, it]) => it);
    await until('Ponder to index the chain', () => seen('block').length > chain.head);
    const withAnna = blocks.flat().filter((trace) => JSON.stringify(trace).includes(ANNA));
    const hashes = new Set(withAnna.map(({ transactionHash }) => transactionHash));
    expect(seen('transfer').length).toBeGreaterThan(0);
    expect(seen('transfer').filter((hash) => !hashes.has(String(hash)))).toEqual([]);
    ponder.kill();
  });

  it('ethereum-etl exports the call tree of every block', async (context) => {
    if (!has('ethereumetl', ['--help']))
      context.skip('ethereum-etl is not installed; see docs/guides/clients.md#ethereum-etl');
    const range = ['--start-block', '0', '--end-block', String(chain.head)];
    const args = ['export_geth_traces', ...range, '--provider-uri', floodgate.gatewayUrl, '--output', '-'];
    // A header, and a row for each block.
    expect((await run('ethereumetl', args)).stdout.trim().split('\n')).toHaveLength(chain.head + 2);
  });
});
