import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { flipBit, mergePostings } from './support/damage.ts';
import { readChain } from './support/nodeChain.ts';

const LAST = 12;
const root = mkdtempSync(join(tmpdir(), 'floodgate-damaged-'));
const [dataDir, backup, restored] = ['data', 'backup', 'restored'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];
let anvil: Anvil;
let floodgate: FloodgateProcess | undefined;

beforeAll(async () => {
  anvil = await startAnvil();
  await (await createTraffic({ url: anvil.url, seed: 5 })).run({ steps: LAST });
  await connect(anvil.url).call('anvil_mine', '0x50');
});
afterAll(async () => {
  await floodgate?.stop();
  await anvil?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Changes one bit of the first chunk of the block with the most traces. Returns the number of the block. */
async function damageChunk(traces: readonly { readonly blockNumber: number }[]): Promise<number> {
  const counts = Array.from(
    { length: LAST + 1 },
    (_, number) => traces.filter(({ blockNumber }) => blockNumber === number).length,
  );
  const number = counts.indexOf(Math.max(...counts));
  const key = Buffer.from([0, 0, 0, number, 0, 0, 0, 0]);
  await flipBit(join(dataDir, 'traces'), { database: 'chunks-0', key });
  return number;
}

it('a damaged block of a restored index is an error, until the server has fetched it again', async () => {
  const { traces } = await readChain(anvil.url);
  const range = ['--from', '0', '--to', String(LAST)];
  const indexed = await run(['index', ...range, '--upstream', anvil.url, '--data-dir', dataDir]);
  expect(indexed.status, indexed.stderr).toBe(0);
  await mergePostings(join(dataDir, 'traces'));
  const damaged = await damageChunk(traces);
  expect(await run(['backup', backup, '--data-dir', dataDir])).toMatchObject({ status: 0 });
  const copied = await run(['restore', backup, '--data-dir', restored]);
  expect(copied).toMatchObject({
    status: 0,
    stdout: `Restored traces into ${restored}.
A server can use it now. To check every block, also while the server runs: floodgate verify --data-dir ${restored}
`,
  });

  floodgate = await startFloodgateProcess({
    upstream: anvil.url,
    dataDir: restored,
    args: ['--index-from', '0'],
  });
  const url = `${floodgate.url}/v1/mainnet`;
  const reasons: unknown[] = [];
  for (let number = 0; number <= LAST; number++) {
    const expected = traces.filter(({ blockNumber }) => blockNumber === number);
    await until(`the traces of block ${number}`, async () => {
      const { result, error } = (await call(url, 'trace_block', `0x${number.toString(16)}`)).json;
      if (error === undefined) expect(result).toEqual(expected);
      else {
        expect([number, error.code]).toEqual([damaged, -32001]);
        reasons.push(error.data.reason);
      }
      return error === undefined;
    });
  }
  expect(reasons[0]).toBe('unproven');
  expect(reasons.filter((reason) => reason !== 'unproven' && reason !== 'damaged')).toEqual([]);
  expect(await run(['verify', '--data-dir', restored])).toMatchObject({ status: 0 });
});

it('verify names the command that repairs a damaged index', async () => {
  const verified = await run(['verify', '--data-dir', dataDir]);
  expect(verified.status).toBe(1);
  expect(verified.stdout).toMatch(
    /^traces: failed: the index is damaged: record \d+ of chunks-0 does not match its checksum; repair: /m,
  );
  expect(existsSync(join(dataDir, 'traces', 'verified'))).toBe(false);
  const command = /repair: floodgate (index --again 0-1023 --upstream) URL/.exec(verified.stdout)?.[1] ?? '';
  const repaired = await run([...command.split(' '), anvil.url, '--data-dir', dataDir]);
  expect(repaired.stderr).toMatch(/^block \d+ is damaged$/m);
  expect(repaired.status, repaired.stderr).toBe(0);
  const again = await run(['verify', '--data-dir', dataDir]);
  expect(again.status, again.stdout).toBe(0);
});
