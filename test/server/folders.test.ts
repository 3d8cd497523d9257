import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startFloodgateProcess } from '../support/startFloodgate.ts';
import { floodgate } from './support/run.ts';

it.each([
  ['key', 'create', '--name', 'a'],
  ['key', 'list'],
  ['token', 'create', '--all-accounts'],
  ['token', 'list'],
  ['audit'],
])('floodgate %s %s does not create a missing data folder', async (...args) => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-none-'));
  const { code, stdout, stderr } = await floodgate([...args, '--data-dir', folder]);
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(`${folder} contains no`)]);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

it('floodgate start logs its data folder and the variables that it ignores', async () => {
  const env = {
    FLOODGATE_PORT: 'tcp://10.0.0.1:8420',
    FLOODGATE_SERVICE_HOST: '10.0.0.1',
    FLOODGATE_LOGLEVEL: 'a-secret',
  };
  const server = await startFloodgateProcess({ env });
  const lines = server
    .output()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(lines.find(({ msg }) => msg === 'using the data folder')).toMatchObject({ dataDir: server.dataDir });
  expect(lines.filter(({ level }) => level > 30)).toMatchObject([
    { variable: 'FLOODGATE_PORT', advice: expect.stringContaining('--port') },
    { variable: 'FLOODGATE_LOGLEVEL', advice: expect.stringContaining('FLOODGATE_LOG_LEVEL') },
  ]);
  expect(server.output()).not.toContain('a-secret');
  await server.stop();
});
