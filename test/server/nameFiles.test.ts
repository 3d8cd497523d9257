import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const ADDRESS = `0x${'ab'.repeat(20)}`;

it('serves the names of the operator with a token only, and reads them again at SIGHUP', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-names-'));
  const labels = join(folder, 'labels.json');
  writeFileSync(labels, JSON.stringify({ [ADDRESS]: 'Vault' }));
  const server = await startFloodgateProcess({ args: ['--role', 'rules'], config: { console: { labels } } });
  try {
    const read = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${server.url}/client/v4/gateway/names`, { headers });
      const { result } = (await answer.json()) as { result: { labels: Record<string, string> } };
      return { status: answer.status, result };
    };
    expect(await read(server.token)).toEqual({
      status: 200,
      result: { abis: {}, labels: { [ADDRESS]: 'Vault' } },
    });
    expect((await read('fg_no_such_token')).status).toBe(401);
    writeFileSync(labels, JSON.stringify({ [ADDRESS]: 'Treasury' }));
    server.process.kill('SIGHUP');
    await until(
      'the new label',
      async () => (await read(server.token)).result.labels[ADDRESS] === 'Treasury',
    );
    // A wrong file changes nothing.
    writeFileSync(labels, '[]');
    server.process.kill('SIGHUP');
    await until('the log message', async () => server.output().includes('configuration reload failed'));
    expect((await read(server.token)).result.labels).toEqual({ [ADDRESS]: 'Treasury' });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
});
