import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSharedTraces, type SharedTraces } from '../../src/ethereum/store/shared/index.ts';
import { type Hash, indexUnavailable } from '../../src/ethereum/traces/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';
import { readChain } from './support/nodeChain.ts';

const LAST = 12;
/** A block that the shared index has without its traces. */
const UNTRACED = 5;

describe.skipIf(!hasClickHouse)(`commands that write the shared index${WITHOUT_CLICKHOUSE}`, () => {
  const root = mkdtempSync(join(tmpdir(), 'floodgate-shared-'));
  let anvil: Anvil;
  let clickHouse: ClickHouseServer;
  let shared: SharedTraces;
  beforeAll(async () => {
    [anvil, clickHouse] = await Promise.all([startAnvil(), ClickHouseServer.start()]);
    const traffic = await createTraffic({ url: anvil.url, seed: 17 });
    await traffic.run({ steps: LAST });
    await connect(anvil.url).call('anvil_mine', '0x50');
    expect(await floodgate(['store', 'migrate', '--trace-store', clickHouse.url()])).toMatchObject({
      status: 0,
    });
    shared = openSharedTraces(clickHouse.url());
  });
  afterAll(async () => {
    await shared?.close();
    await clickHouse?.remove();
    await anvil?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it('import files into it, and retry its unavailable blocks', async () => {
    const chain = await readChain(anvil.url);
    const hashOf = (number: number) => chain.hashes[number] as Hash;
    const identity = { chainId: 31_337, genesisHash: hashOf(0) };
    const header = {
      number: UNTRACED,
      hash: hashOf(UNTRACED),
      parentHash: hashOf(UNTRACED - 1),
      timestamp: 1,
    };
    await shared.writer(identity).write([indexUnavailable({ ...header, transactionHashes: [] }, 'timeout')]);
    const reader = shared.reader(identity);
    const textOf = async (number: number) => (await reader.blockTraces(number, 2 ** 26))?.toString();
    const expected = (number: number) =>
      stringifyTraces(chain.traces.filter(({ blockNumber }) => blockNumber === number));

    const range = ['--from', '0', '--to', String(LAST)];
    const [dataDir, traces, headers] = ['data', 'traces', 'headers'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    const embedded = [...range, '--data-dir', dataDir];
    expect(await floodgate(['index', ...embedded, '--upstream', anvil.url])).toMatchObject({ status: 0 });
    const files = ['--headers', headers, '--format', 'parquet'];
    expect(await floodgate(['export', ...embedded, '--out', traces, ...files])).toMatchObject({ status: 0 });
    const toStore = ['--to-store', '--trace-store', clickHouse.url(), '--data-dir', join(root, 'none')];
    const importing = ['import', '--traces', traces, '--headers', headers, ...toStore];
    const imported = await floodgate(importing);
    expect(imported).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Indexed 12 blocks/) });
    expect(imported.stderr).toContain('12 of 13 are missing');
    for (let number = 0; number <= LAST; number++)
      expect(await textOf(number)).toBe(number === UNTRACED ? undefined : expected(number));
    expect((await floodgate(importing)).stderr).toContain('0 of 13 are missing');

    const retry = ['index', '--retry-unavailable', ...toStore];
    expect(await floodgate([...retry, '--upstream', anvil.url])).toMatchObject({
      status: 0,
      stdout: 'Indexed 1 of 1 unavailable blocks. No block is unavailable.\n',
    });
    expect(await textOf(UNTRACED)).toBe(expected(UNTRACED));
    expect((await floodgate(['verify', '--trace-store', clickHouse.url()])).stdout).toBe(
      'The shared index is whole.\n',
    );
  });
});
