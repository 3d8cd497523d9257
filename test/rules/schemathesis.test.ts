import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { spawnGuarded } from '../support/spawn.ts';
import { startServer, TOKEN } from './support/server.ts';

const config = fileURLToPath(new URL('./support/schemathesis.toml', import.meta.url));
const installed = spawnSync('schemathesis', ['--version']).status === 0;

/** Number of random cases per operation, in addition to those derived from the document. */
const EXAMPLES = 10;

it('schemathesis finds no response that violates the OpenAPI document, and no 5xx', async (context) => {
  if (!installed) context.skip('schemathesis is not installed: pip install schemathesis');
  const server = await startServer();
  try {
    const run = spawnGuarded(
      'schemathesis',
      [
        '--config-file',
        config,
        'run',
        `${server.baseUrl}/openapi.json`,
        '--url',
        server.baseUrl,
        '--header',
        `Authorization: Bearer ${TOKEN}`,
        '--max-examples',
        String(EXAMPLES),
        '--generation-deterministic',
        '--no-color',
      ],
      // schemathesis writes files to its working folder.
      { cwd: server.dataDir },
    );
    let output = '';
    for (const stream of [run.stdout, run.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    const [status] = await once(run, 'close');
    expect(status, output).toBe(0);
    expect(server.output()).not.toContain('failed');
  } finally {
    await server.stop();
  }
});
