import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnGuarded } from '../support/spawn.ts';
import { call, send } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const OPENAPI_TYPESCRIPT = inRepository('.ci/client-generators/node_modules/openapi-typescript/bin/cli.js');
const WITHOUT_OPENAPI_TYPESCRIPT =
  'openapi-typescript is not installed: npm ci --prefix .ci/client-generators';
const TSC = inRepository('node_modules/typescript/bin/tsc');
const MISSING_RULE = '3fa85f64-5717-4562-b3fc-2c963f66afa6';

const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const hasGenerator = has('java', '-version') && has('openapi-generator-cli', 'version');

let server: RulesServer;
let folder: string;
let document: string;
beforeAll(async () => {
  server = await startServer();
  await call(server, {
    method: 'POST',
    path: rulesPath('a'),
    body: { ...newRule, scope: 'region', name: 'WEUR' },
  });
  folder = mkdtempSync(join(tmpdir(), 'floodgate-clients-'));
  document = join(folder, 'openapi.json');
  writeFileSync(document, (await send(server, { path: '/openapi.json' })).text);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program, expects exit code 0, and returns its output. */
async function run(command: string, args: readonly string[], options: object = {}): Promise<string> {
  const child = spawnGuarded(command, args, options);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const [status] = await once(child, 'close');
  expect(status, `${command} ${args.join(' ')}\n${output}`).toBe(0);
  return output;
}

/** Arguments of the program that lists the rules. LISTED is its expected output. */
const asked = () => [server.baseUrl, TOKEN, MISSING_RULE];
const LISTED = 'WEUR\n404\n';

function place(program: string, file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(inRepository(`test/rules/clients/${program}`), file);
  return file;
}

async function compiled(file: string): Promise<string> {
  const out = join(dirname(file), 'out');
  const target = ['--target', 'es2022', '--lib', 'es2022,dom', '--module', 'commonjs'];
  // Outside of the repository, so that its tsconfig.json does not apply.
  const cwd = dirname(file);
  await run(process.execPath, [TSC, '--strict', ...target, '--types', '', '--outDir', out, file], { cwd });
  return join(out, 'list.js');
}

describe('the OpenAPI document', () => {
  // biome-ignore lint/suspicious/noExplicitAny: walks values of any shape
  function* nodes(value: any, path = ''): Generator<[string, any]> {
    if (typeof value !== 'object' || value === null) return;
    yield [path, value];
    for (const [key, member] of Object.entries(value)) yield* nodes(member, `${path}/${key}`);
  }

  it('avoids schemas for which generators produce code that does not compile', async () => {
    const { json } = await send(server, { path: '/openapi.json' });
    const faults = [...nodes(json)].flatMap(([path, node]) => [
      ...(node.type === 'null' ? [`${path} is only null`] : []),
      ...('const' in node ? [`${path} is constant`] : []),
    ]);
    expect(faults).toEqual([]);
    const names = Object.keys(json.components.schemas);
    expect(names.filter((name) => name.startsWith('New') || names.includes(`New${name}`))).toEqual([]);
  });

  it('has a valid example of every parameter, header and body', async () => {
    const { json } = await send(server, { path: '/openapi.json' });
    const ajv = new Ajv2020({ strict: false });
    // Depending on the loader, the default export of this CommonJS module is wrapped or not.
    (addFormats as unknown as { default?: typeof addFormats.default }).default?.(ajv);
    ajv.addSchema({ ...json, $id: 'document' });
    const faults: string[] = [];
    let looked = 0;
    for (const [path, node] of nodes(json.paths)) {
      if (!('schema' in node)) continue;
      looked++;
      const schema = node.schema.$ref === undefined ? node.schema : { $ref: `document${node.schema.$ref}` };
      if (!('example' in node)) faults.push(`${path} has no example`);
      else if (!ajv.validate(schema, node.example)) faults.push(`${path}: ${ajv.errorsText()}`);
    }
    expect(faults).toEqual([]);
    expect(looked).toBeGreaterThan(100);
  });
});

describe('a client generated from the OpenAPI document compiles and lists rules:', () => {
  it('openapi-typescript', async (context) => {
    if (!existsSync(OPENAPI_TYPESCRIPT)) context.skip(WITHOUT_OPENAPI_TYPESCRIPT);
    const file = place('list.types.ts.txt', join(folder, 'types/list.ts'));
    await run(process.execPath, [OPENAPI_TYPESCRIPT, document, '-o', join(dirname(file), 'api.d.ts')]);
    expect(await run(process.execPath, [await compiled(file), ...asked()])).toBe(LISTED);
  });

  describe('openapi-generator', () => {
    const generators = ['python', 'go', 'typescript-fetch'];
    const outputOf = (generator: string) => join(folder, generator);
    beforeAll(async () => {
      if (!hasGenerator) return;
      const configurations = generators.map((generator) => {
        const file = join(folder, `${generator}.json`);
        const outputDir = outputOf(generator);
        writeFileSync(file, JSON.stringify({ generatorName: generator, inputSpec: document, outputDir }));
        return file;
      });
      // One run for all generators, because starting Java is slow.
      await run('openapi-generator-cli', ['batch', ...configurations], { cwd: folder });
    });
    const missing = 'java or openapi-generator-cli is not installed: pip install openapi-generator-cli';

    it('for Python', async (context) => {
      if (!hasGenerator) context.skip(missing);
      if (!has('python3', '-c', 'import pydantic, urllib3, dateutil'))
        context.skip(
          'the dependencies of the Python client are not installed: pip install pydantic urllib3 python-dateutil',
        );
      const program = inRepository('test/rules/clients/list.py');
      const env = { ...process.env, PYTHONPATH: outputOf('python') };
      expect(await run('python3', [program, ...asked()], { env })).toBe(LISTED);
    });

    it('for Go', async (context) => {
      if (!hasGenerator) context.skip(missing);
      if (!has('go', 'version')) context.skip('go is not installed');
      const cwd = outputOf('go');
      place('list.go.txt', join(cwd, 'cmd/list/main.go'));
      // The client has no dependencies, so no download is needed.
      const env = { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOWORK: 'off' };
      expect(await run('go', ['run', './cmd/list', ...asked()], { cwd, env })).toBe(LISTED);
    });

    it('for TypeScript', async (context) => {
      if (!hasGenerator) context.skip(missing);
      const file = place('list.fetch.ts.txt', join(outputOf('typescript-fetch'), 'list.ts'));
      expect(await run(process.execPath, [await compiled(file), ...asked()])).toBe(LISTED);
    });
  });
});
