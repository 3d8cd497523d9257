import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRule } from '../rules/support/samples.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { runProgram } from '../support/runProgram.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { floodgate, root, run } from './support/run.ts';

/** What `npm run release:fixture` kept of each release. */
const RELEASES = `${root}test/fixtures/releases`;
const ENDING = '.tar.br';

interface Question {
  readonly path: string;
  readonly method?: string;
  readonly body?: object;
  /** Left out: the token of the rules API. */
  readonly bearer?: string;
}

interface Expected {
  readonly token: string;
  readonly revokedToken: string;
  /** The path of what the rules API has of the account. */
  readonly configs: string;
  readonly asked: readonly { readonly question: Question; readonly answer: object }[];
  readonly tokens: readonly object[];
  readonly keys: readonly object[];
}

/** What a trace index says while it is brought to a newer format, and what an older program says of that. */
const UPGRADED = /the index is upgraded/;
const REFUSED = /the store traces has format \d+, which a newer Floodgate wrote/;

/** The node of that time: all that is answered is from the data. */
const GONE = 'http://127.0.0.1:9';

function unpack(release: string): { folder: string; program: string; expected: Expected } {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-upgrade-'));
  const tar = brotliDecompressSync(readFileSync(join(RELEASES, `${release}${ENDING}`)));
  const { status, stderr } = spawnSync('tar', ['-C', folder, '-xf', '-'], { input: tar, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  // The one package that is not bundled.
  symlinkSync(`${root}node_modules`, join(folder, 'program/node_modules'));
  return {
    folder,
    program: join(folder, 'program/dist/bundle/floodgate.js'),
    expected: JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')),
  };
}

/** What became of each way back. */
const waysBack = new Set<'refused' | 'taken'>();

const releases = readdirSync(RELEASES)
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length));

describe.each(releases)('the data of %s', (release) => {
  let unpacked: ReturnType<typeof unpack>;
  let dataDir: string;
  let flags: readonly string[];
  /** What this program wrote of it to the log. */
  let log = '';

  beforeAll(async () => {
    unpacked = unpack(release);
    dataDir = join(unpacked.folder, 'data');
    mkdirSync(dataDir);
    flags = ['--upstream', GONE, '--port', '0', '--data-dir', dataDir];
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
    return (await answer.json()) as object; // an envelope, or an answer of JSON-RPC
  }

  async function answersAreRight(url: string): Promise<void> {
    for (const { question, answer } of unpacked.expected.asked)
      expect(await ask(url, question), JSON.stringify(question)).toMatchObject(answer);
  }

  const old = async (): ReturnType<typeof runProgram> =>
    runProgram(['start', ...flags], {
      env: cleanEnvironment(),
      cwd: unpacked.folder,
      command: [process.execPath, unpacked.program],
    });

  it('is served as it was: rules, lists, audit, tokens, keys and traces', async () => {
    const server = await startFloodgate({ upstream: GONE, dataDir, whenListening: true });
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
    await until(
      'no upgrade is under way',
      () => !/upgrading/.test(server.output()) || UPGRADED.test(server.output()),
    );
    await answersAreRight(server.url);
    const rule = { ...newRule, scope: 'datacenter', name: 'lax' };
    expect(await ask(server.url, { path: rules, method: 'POST', body: rule })).toMatchObject({
      success: true,
    });
    await server.stop();
    log = server.output();
    const verified = await floodgate(['verify', '--data-dir', dataDir]);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  });

  it('is taken back by that release where no format has changed, with what was written since, and refused where one has', async () => {
    waysBack.add(UPGRADED.test(log) ? 'refused' : 'taken');
    if (UPGRADED.test(log)) {
      const refused = await run(process.execPath, [unpacked.program, 'start', ...flags]);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(REFUSED) });
      // The way back that is left: the backup, into a new folder.
      const restored = join(unpacked.folder, 'restored');
      const words = ['restore', join(unpacked.folder, 'backup'), '--data-dir', restored];
      expect((await run(process.execPath, [unpacked.program, ...words])).code).toBe(0);
      flags = [...flags, '--data-dir', restored];
    }
    const server = await old();
    const { asked, configs } = unpacked.expected;
    const isOfRules = ({ path }: Question): boolean => path.startsWith(configs);
    for (const { question, answer } of asked.filter(({ question }) => !isOfRules(question)))
      expect(await ask(server.url, question)).toMatchObject(answer);
    const { result } = (await ask(server.url, { path: `${configs}/dns_protection/rules` })) as {
      result: { name: string }[];
    };
    const added = UPGRADED.test(log) ? [] : ['lax'];
    expect(result.map(({ name }) => name).toSorted()).toEqual(['WEUR', 'global', ...added].toSorted());
    expect(await server.stop()).toBe(0);
  });
});

it('both ways back were tried', () => {
  expect([...waysBack].toSorted()).toEqual(['refused', 'taken']);
});

it('docs/upgrade.md names the formats that this program writes', () => {
  const page = readFileSync(`${root}docs/upgrade.md`, 'utf8');
  const FORMATS = {
    traces: ['src/ethereum/store/lmdb/traces/environment.ts', /FORMAT: TraceFormat = \{ version: (\d+)/],
    rules: ['src/rules/store/lmdb/environment.ts', /FORMAT = (\d+)/],
    gateway: ['src/ethereum/store/lmdb/gateway/openGatewayStorage.ts', /FORMAT = (\d+)/],
    dns: ['src/dns/store/lmdb/dnsStore.ts', /FORMAT = (\d+)/],
  } as const;
  for (const [store, [file, pattern]] of Object.entries(FORMATS)) {
    const [, version] = pattern.exec(readFileSync(root + file, 'utf8')) ?? [];
    const told = [...page.matchAll(new RegExp(`^\\| ${store} \\| (\\d+)`, 'gm'))].map(([, format]) => format);
    expect(told.at(-1), store).toBe(version);
  }
});
