// Writes console/src/api/schema.d.ts: the types of the schemas in the OpenAPI document of the rules API, as far as
// the console uses them.
// Run `npm run compile` first. With --check it only compares the file with the document.
// The generator is a separate package because it needs an older compiler: npm ci --prefix .ci/client-generators
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '../dist/rules/api/document/openApi.js';
import { ruleFormat } from '../dist/rules/index.js';
import { root } from './compile.js';

const CONSOLE = join(root, 'console/src');
const TYPES = join(CONSOLE, 'api/schema.d.ts');
const GENERATOR = join(root, '.ci/client-generators/node_modules/openapi-typescript/bin/cli.js');

/** Returns the schemas that sources of the console name as `Schemas['…']`, and those that these schemas refer to. */
function usedSchemas(schemas) {
  const used = new Set();
  const addNamed = (text, pattern) => {
    for (const [, name] of text.matchAll(pattern))
      if (name in schemas && !used.has(name)) {
        used.add(name);
        addNamed(JSON.stringify(schemas[name]), /#\/components\/schemas\/(\w+)/g);
      }
  };
  for (const file of readdirSync(CONSOLE, { recursive: true }))
    if (/\.tsx?$/.test(file)) addNamed(readFileSync(join(CONSOLE, file), 'utf8'), /\bSchemas\['(\w+)'\]/g);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

const folder = mkdtempSync(join(tmpdir(), 'floodgate-types-'));
try {
  const document = join(folder, 'openapi.json');
  const types = join(folder, 'schema.d.ts');
  // The document has no routes: the console uses the types of the schemas only.
  const { components, ...rest } = openApiDocument([], '/client/v4', ruleFormat);
  const schemas = usedSchemas(components.schemas);
  writeFileSync(document, JSON.stringify({ ...rest, components: { ...components, schemas } }));
  const { status } = spawnSync(process.execPath, [GENERATOR, document, '-o', types], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0)
    throw new Error('openapi-typescript failed; is it installed? npm ci --prefix .ci/client-generators');
  const written = readFileSync(types, 'utf8');
  if (!process.argv.includes('--check')) writeFileSync(TYPES, written);
  else if (written !== readFileSync(TYPES, 'utf8')) {
    console.error(
      'console/src/api/schema.d.ts differs from the OpenAPI document: run node scripts/consoleTypes.js',
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
