import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { spawnGuarded } from '../support/spawn.ts';
import { startServer, TOKEN } from './support/server.ts';

const config = fileURLToPath(new URL('./support/schemathesis.toml', import.meta.url));
const installed = spawnSync('schemathesis', ['--version']).status === 0;

/** Cases that are made up for each operation, besides those that follow from the document. */
const EXAMPLES = 20;

it('schemathesis finds no answer that breaks the OpenAPI document, and none of 5xx', async (context) => {
  if (!installed) context.skip('the command schemathesis is not there; `pip install schemathesis` brings it');
  const server = await startServer();
  try {
    const run = spawnGuarded(
      'schemathesis',
      [
        ...['--config-file', config, 'run', `${server.baseUrl}/openapi.json`, '--url', server.baseUrl],
        ...['--header', `Authorization: Bearer ${TOKEN}`, '--max-examples', String(EXAMPLES)],
        ...['--generation-deterministic', '--no-color'],
      ],
      // It leaves files of its own where it runs.
      { cwd: server.dataDir },
    );
    let output = '';
    for (const stream of [run.stdout, run.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    const [status] = await once(run, 'exit');
    expect(status, output).toBe(0);
    expect(server.output()).not.toContain('failed');
  } finally {
    await server.stop();
  }
});
