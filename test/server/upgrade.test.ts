import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { open as openLmdb } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { newRule } from '../rules/support/samples.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { runProgram } from '../support/runProgram.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { floodgate, root, run } from './support/run.ts';

/** Data of each release, stored by `npm run release:fixture`. */
const RELEASES = `${root}test/fixtures/releases`;
const ENDING = '.tar.br';

interface Question {
  readonly path: string;
  readonly method?: string;
  readonly body?: object;
  /** Default: the token of the rules API. */
  readonly bearer?: string;
}

interface Expected {
  readonly token: string;
  readonly revokedToken: string;
  /** The path of the account in the rules API. */
  readonly configs: string;
  readonly asked: readonly { readonly question: Question; readonly answer: object }[];
  readonly tokens: readonly object[];
  readonly keys: readonly object[];
}

/** The error of an older program for a store in a newer format. */
const REJECTED = /the store \w+ in \S+ has format \d+, which a newer Floodgate wrote/;

/** A URL without a node: every result is from the stored data. */
const NO_NODE = 'http://127.0.0.1:9';

function unpack(release: string): { folder: string; program: string; expected: Expected } {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-upgrade-'));
  const tar = brotliDecompressSync(readFileSync(join(RELEASES, `${release}${ENDING}`)));
  const { status, stderr } = spawnSync('tar', ['-C', folder, '-xf', '-'], { input: tar, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  // For lmdb, the only package that is not bundled.
  symlinkSync(`${root}node_modules`, join(folder, 'program/node_modules'));
  return {
    folder,
    program: join(folder, 'program/dist/bundle/floodgate.js'),
    expected: JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')),
  };
}

/** Empty until 0.1.0 is tagged. */
const releases = (existsSync(RELEASES) ? readdirSync(RELEASES) : [])
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length));

describe.each(releases)('the data of release %s', (release) => {
  let unpacked: ReturnType<typeof unpack>;
  let dataDir: string;
  let flags: readonly string[];

  beforeAll(async () => {
    unpacked = unpack(release);
    dataDir = join(unpacked.folder, 'data');
    mkdirSync(dataDir);
    flags = ['--upstream', NO_NODE, '--port', '0', '--data-dir', dataDir];
    const backup = join(unpacked.folder, 'backup');
    const restored = await floodgate(['restore', backup, '--data-dir', dataDir]);
    expect(restored.code, restored.stderr).toBe(0);
  });
  afterAll(() => rmSync(unpacked.folder, { recursive: true, force: true }));

  async function ask(url: string, { path, method = 'GET', body, bearer }: Question): Promise<object> {
    const answer = await fetch(url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${bearer ?? unpacked.expected.token}`,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as object; // an envelope of the rules API or a JSON-RPC response
  }

  async function answersAreRight(url: string): Promise<void> {
    for (const { question, answer } of unpacked.expected.asked)
      expect(await ask(url, question), JSON.stringify(question)).toMatchObject(answer);
  }

  it('is served unchanged: rules, lists, audit log, tokens, keys and traces', async () => {
    const server = await startFloodgate({ upstream: NO_NODE, dataDir, whenListening: true });
    const { asked, configs, revokedToken, tokens, keys } = unpacked.expected;
    expect(asked.length).toBeGreaterThan(40);
    await answersAreRight(server.url);
    const rules = `${configs}/dns_protection/rules`;
    expect(await ask(server.url, { path: rules, bearer: revokedToken })).toMatchObject({ success: false });
    const lists = async (...words: string[]): Promise<object[]> =>
      (await floodgate([...words, '--json', '--data-dir', dataDir])).stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(await lists('token', 'list')).toMatchObject(tokens);
    expect(await lists('key', 'list')).toMatchObject(keys);
    const rule = { ...newRule, scope: 'datacenter', name: 'lax' };
    expect(await ask(server.url, { path: rules, method: 'POST', body: rule })).toMatchObject({
      success: true,
    });
    await server.stop();
    const verified = await floodgate(['verify', '--data-dir', dataDir]);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  });

  it('can be served by that release after the upgrade, or is rejected with the name of the store and restored from the backup', async () => {
    const command = [process.execPath, unpacked.program] as const;
    const start = (dir: string): ReturnType<typeof runProgram> =>
      runProgram(['start', ...flags, '--data-dir', dir], {
        env: cleanEnvironment(),
        cwd: unpacked.folder,
        command,
      });
    let isRejected = false;
    const server = await start(dataDir).catch(async () => {
      isRejected = true;
      const rejected = await run(command[0], [command[1], 'start', ...flags]);
      expect(rejected).toMatchObject({ code: 1, stderr: expect.stringMatching(REJECTED) });
      const restored = join(unpacked.folder, 'restored');
      const words = ['restore', join(unpacked.folder, 'backup'), '--data-dir', restored];
      expect((await run(command[0], [command[1], ...words])).code).toBe(0);
      return start(restored);
    });
    const { asked, configs } = unpacked.expected;
    for (const { question, answer } of asked.filter(({ question }) => !question.path.startsWith(configs)))
      expect(await ask(server.url, question)).toMatchObject(answer);
    const { result } = (await ask(server.url, { path: `${configs}/dns_protection/rules` })) as {
      result: { name: string }[];
    };
    const added = isRejected ? [] : ['lax'];
    expect(result.map(({ name }) => name).toSorted()).toEqual(['WEUR', 'global', ...added].toSorted());
    expect(await server.stop()).toBe(0);
  });
});

describe('a store from before 0.1.0', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-before-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  beforeAll(async () => {
    await openRulesStorage(dataDir).close();
    await DnsStore.open(dataDir).close();
    await openGatewayStorage(dataDir, 1_000_000).close();
    await openTraceStore(join(dataDir, 'traces')).close();
  });

  it.each(['rules', 'dns', 'gateway', 'traces'])('prevents the start of the server: %s', async (store) => {
    const root = openLmdb({ path: join(dataDir, store), maxDbs: 16 });
    const format = root.openDB<number, string>({ name: 'format', encoding: 'json' });
    const written = format.get('format') ?? 0;
    await format.remove('format');
    const guard = ['--dns-account', 'acc', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
    const flags = ['--upstream', NO_NODE, '--port', '0', '--data-dir', dataDir, ...guard];
    expect(await floodgate(['start', ...flags])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `the store ${store} in ${join(dataDir, store)} was written before 0.1.0; use a new data folder`,
      ),
    });
    await format.put('format', written);
    await root.close();
  });
});

it('docs/operate/upgrade.md lists the current format of every store', () => {
  const page = readFileSync(`${root}docs/operate/upgrade.md`, 'utf8');
  const FORMATS = {
    traces: 'src/ethereum/store/lmdb/traces/environment.ts',
    rules: 'src/rules/store/lmdb/environment.ts',
    gateway: 'src/ethereum/store/lmdb/gateway/openGatewayStorage.ts',
    dns: 'src/dns/store/lmdb/dnsStore.ts',
    PostgreSQL: 'src/rules/store/postgres/schema.ts',
  };
  for (const [store, file] of Object.entries(FORMATS)) {
    const [, version] = /FORMAT = (\d+)/.exec(readFileSync(root + file, 'utf8')) ?? [];
    const reported = [...page.matchAll(new RegExp(`^\\| ${store} \\| (\\d+)`, 'gm'))].map(
      ([, format]) => format,
    );
    expect(reported.at(-1), store).toBe(version);
  }
});
