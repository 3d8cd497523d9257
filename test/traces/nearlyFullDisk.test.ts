import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { call } from '../rules/support/call.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { createTraffic, startAnvil } from '../support/anvil.ts';
import { smallFileSystem } from '../support/smallFileSystem.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter } from './support/callTraceFilter.ts';

const MIB = 1024 * 1024;
const BLOCKS = 100;

it('below the floor of free space, traces are not written, rules are, and writing resumes automatically', async (context) => {
  const { folder } = smallFileSystem(context, 256 * MIB);
  const anvil = await startAnvil();
  onTestFinished(() => anvil.stop());
  const traffic = await createTraffic({ url: anvil.url, seed: 5 });
  await traffic.run({ steps: BLOCKS });
  const floodgate = await startFloodgate({
    upstream: anvil.url,
    dataDir: join(folder, 'data'),
    args: ['--index-from', '90', '--index-poll-interval-ms', '50', '--index-finality', 'node'],
  });
  onTestFinished(async () => {
    await floodgate.stop();
  });
  const checks = async (): Promise<Record<string, string>> =>
    ((await (await fetch(`${floodgate.url}/readyz`)).json()) as { checks: Record<string, string> }).checks;
  const filter = (fromBlock: number | string) =>
    callTraceFilter(floodgate.gatewayUrl, { fromBlock, toBlock: fromBlock, count: 1 });
  expect((await filter(5)).error).toBeUndefined();
  expect(await checks()).not.toHaveProperty('disk');

  const filler = join(folder, 'filler');
  writeFileSync(filler, Buffer.alloc(200 * MIB));
  // While the filler is written, traces stop first.
  await until('the server to notice the disk', async () =>
    /^writing of traces, caches, analytics has stopped: less than \d+ bytes/.test(
      (await checks())['disk'] ?? '',
    ),
  );
  await traffic.run({ steps: 1 });
  await until('the index to wait', async () =>
    (await checks())['ingest']?.startsWith('indexing waits: writing of'),
  );
  expect((await filter(6)).error).toMatchObject({ code: -32002, data: { reason: 'noSpace' } });
  expect((await filter(5)).error).toBeUndefined();
  const created = await call(
    { baseUrl: `${floodgate.url}/client/v4` },
    { method: 'POST', path: rulesPath('acc'), body: newRule },
  );
  expect(created.status).toBe(200);
  const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
  expect(metrics).toContain('floodgate_disk_writing_stopped{data="traces"} 1');

  rmSync(filler);
  await until('the server to notice the space', async () => !('disk' in (await checks())));
  await until('the index to follow the chain', async () => (await checks())['ingest'] === 'ok');
  expect((await filter(6)).error).toBeUndefined();
});
