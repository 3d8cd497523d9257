// Writes the types by which the console calls the REST API, from our own OpenAPI document: `npm run compile`, then
// `node scripts/consoleTypes.js`. With --check it only says whether they are as they should be. The generator is apart from the
// program: npm ci --prefix .ci/client-generators
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '../dist/rules/api/openApi.js';
import { routesOf } from '../dist/rules/api/routes.js';
import { ruleFormat } from '../dist/rules/index.js';
import { root } from './compile.js';

const TYPES = join(root, 'console/src/api/schema.d.ts');
const GENERATOR = join(root, '.ci/client-generators/node_modules/openapi-typescript/bin/cli.js');

/** Of a server that has all there is: what the operations do is of no account here. */
const all = routesOf({
  ...{
    rules: { analytics: () => undefined },
    lists: { allowlist: {}, denylist: {} },
    guard: {},
    guardedAccount: undefined,
  },
  ...{ tokens: {}, keys: {} },
  ...{
    audit: () => undefined,
    live: () => undefined,
    health: () => undefined,
    healthHistory: () => undefined,
  },
});
const folder = mkdtempSync(join(tmpdir(), 'floodgate-types-'));
try {
  const document = join(folder, 'openapi.json');
  const types = join(folder, 'schema.d.ts');
  writeFileSync(document, JSON.stringify(openApiDocument(all, '/client/v4', ruleFormat)));
  const { status } = spawnSync(process.execPath, [GENERATOR, document, '-o', types], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0)
    throw new Error('openapi-typescript failed; is it there? npm ci --prefix .ci/client-generators');
  const written = readFileSync(types, 'utf8');
  if (!process.argv.includes('--check')) writeFileSync(TYPES, written);
  else if (written !== readFileSync(TYPES, 'utf8')) {
    console.error(
      'console/src/api/schema.d.ts is not as the OpenAPI document has it: run node scripts/consoleTypes.js',
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
