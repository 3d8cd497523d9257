import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatTimestamp, hashSecret, newTokenSecret, type Token, wallClock } from '../../src/rules/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { floodgate } from '../server/support/run.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { runProgram } from '../support/runProgram.ts';
import { send } from './support/call.ts';
import { rulesPath } from './support/samples.ts';
import { startServer } from './support/server.ts';

/** Exit code for an invalid configuration (sysexits.h). */
const EX_USAGE = 64;
const actor = { by: 'test', from: 'local' };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-configured-token-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Known {
  readonly dataDir: string;
  readonly secret: string;
  readonly token: Token;
}

/** Creates a data folder with a stored token that can only read rules of account "a". */
async function knownToken(
  name: string,
  change: { expired?: boolean; revoked?: boolean } = {},
): Promise<Known> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir);
  const storage = openRulesStorage(dataDir);
  const secret = newTokenSecret();
  const token = await storage.tokens.create(
    {
      hash: hashSecret(secret).toString('hex'),
      label: 'dashboard',
      accounts: ['a'],
      permissions: ['dns_protection:read'],
      expires_on: change.expired ? formatTimestamp(wallClock() - 1_000_000) : null,
    },
    actor,
  );
  if (change.revoked) await storage.tokens.revoke(token.id, actor);
  await storage.close();
  return { dataDir, secret, token };
}

const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  floodgate(['start', '--port', '0', ...args], { cwd: folder, env });

const variablesOf = ({ dataDir, secret }: Known) => ({
  FLOODGATE_API_TOKEN: secret,
  FLOODGATE_DATA_DIR: dataDir,
});

function expectRefused(ended: Awaited<ReturnType<typeof start>>, { secret, token }: Known): void {
  expect(ended.code, ended.stderr).toBe(EX_USAGE);
  expect(ended.stderr).toContain('apiToken (FLOODGATE_API_TOKEN, --api-token)');
  expect(ended.stderr).toContain(token.id);
  expect(ended.stderr).toContain('FLOODGATE_TOKEN');
  expect(ended.stderr).not.toMatch(/\n\s+at /);
  for (const hidden of [secret, token.hash]) expect(ended.stdout + ended.stderr).not.toContain(hidden);
}

describe.concurrent('a server does not start if its configured token is a stored one', () => {
  it.each([
    ['active', {}, 'which is active'],
    ['expired', { expired: true }, 'which has expired'],
    ['revoked', { revoked: true }, 'which is revoked'],
    ['expired and revoked', { expired: true, revoked: true }, 'which is revoked'],
  ])('that is %s', async (name, change, state) => {
    const known = await knownToken(name, change);
    const ended = await start(['--role', 'rules', '--data-dir', known.dataDir], {
      FLOODGATE_API_TOKEN: known.secret,
    });
    expectRefused(ended, known);
    expect(ended.stderr).toContain(state);
  });

  it.each([
    ['in the file', (_: Known, file: string) => start(['--config', file])],
    [
      'in a flag',
      ({ dataDir, secret }: Known) =>
        start(['--role', 'rules', '--data-dir', dataDir, '--api-token', secret]),
    ],
    ['in front of a node', (known: Known) => start(['--upstream', 'http://127.0.0.1:1'], variablesOf(known))],
    [
      'with a DNS guard',
      (known: Known) =>
        start(
          ['--role', 'rules,guard', '--dns-account', 'a', '--dns-servers', '127.0.0.1:1'],
          variablesOf(known),
        ),
    ],
    [
      'as `floodgate dev`',
      (known: Known) =>
        floodgate(['dev', '--role', 'rules,guard', '--port', '0'], { cwd: folder, env: variablesOf(known) }),
    ],
  ])('that is configured %s', async (where, run) => {
    const known = await knownToken(where);
    const { dataDir, secret } = known;
    const file = join(folder, `${where}.yaml`);
    writeFileSync(file, JSON.stringify({ apiToken: secret, dataDir, role: 'rules' }));
    expectRefused(await run(known, file), known);
  });

  it('but starts in the same folder with another token', async () => {
    const { dataDir, secret } = await knownToken('another');
    await start(['--role', 'rules', '--data-dir', dataDir], { FLOODGATE_API_TOKEN: secret });
    const server = await startServer({ dataDir });
    try {
      expect((await send(server, { path: rulesPath('a') })).status).toBe(200);
      expect((await send(server, { path: rulesPath('a'), token: secret })).status).toBe(200);
      expect((await send(server, { path: rulesPath('b'), token: secret })).status).toBe(403);
    } finally {
      await server.stop();
    }
  });
});

describe.concurrent('a server without a configured token', () => {
  it('ignores FLOODGATE_TOKEN, the variable of clients', async () => {
    const { dataDir, secret } = await knownToken('client-variable', { revoked: true });
    const unknown = newTokenSecret();
    for (const FLOODGATE_TOKEN of [secret, unknown]) {
      const server = await startServer({ dataDir, env: { FLOODGATE_API_TOKEN: '', FLOODGATE_TOKEN } });
      try {
        expect((await send(server, { path: rulesPath('a'), token: FLOODGATE_TOKEN })).status).toBe(401);
      } finally {
        await server.stop();
      }
    }
  });

  it('rejects every form of an empty bearer token', async () => {
    const server = await startServer({ env: { FLOODGATE_API_TOKEN: '' } });
    try {
      for (const authorization of [
        '',
        'Bearer',
        'Bearer ',
        'Bearer  ',
        'Bearer ""',
        "Bearer ''",
        'Bearer =',
        'Bearer undefined',
      ]) {
        const answer = await send(server, { path: rulesPath('a'), token: null, headers: { authorization } });
        expect([400, 401], authorization).toContain(answer.status);
      }
    } finally {
      await server.stop();
    }
  });
});

it.concurrent.each([
  { what: 'a flag', args: ['--api-token', ''] },
  { what: 'a flag of blanks', args: ['--api-token', ' '.repeat(20)] },
  { what: 'a variable of blanks', env: { FLOODGATE_API_TOKEN: ' '.repeat(20) } },
  { what: 'the configuration file', text: "apiToken: ''" },
  { what: 'the configuration file without a value', text: 'apiToken:' },
])(
  'a server does not start with an empty token in $what',
  async ({ what, args = [], env = {}, text = '{}' }) => {
    const file = join(folder, `${what}.yaml`);
    writeFileSync(file, text);
    const ended = await start(['--role', 'rules', '--config', file, ...args], {
      FLOODGATE_DATA_DIR: folder,
      ...env,
    });
    expect([ended.code, ended.stderr]).toEqual([EX_USAGE, expect.stringContaining('16 to 256 visible')]);
  },
);

describe.concurrent('floodgate dev', () => {
  const dev = (dataDir: string) =>
    runProgram(['dev', '--role', 'rules,guard', '--port', '0', '--data-dir', dataDir], {
      env: cleanEnvironment({ FLOODGATE_API_TOKEN: '' }),
    });
  const tokenOf = (dataDir: string) => readFileSync(join(dataDir, 'api-token'), 'utf8').trim();
  const statusWith = async (url: string, token: string) =>
    (await fetch(`${url}/client/v4${rulesPath('dev')}`, { headers: { authorization: `Bearer ${token}` } }))
      .status;

  it('keeps its token across restarts, and accepts stored tokens', async () => {
    const { dataDir, secret } = await knownToken('dev');
    const first = await dev(dataDir);
    const token = tokenOf(dataDir);
    expect([await statusWith(first.url, token), await statusWith(first.url, secret)]).toEqual([200, 403]);
    await first.stop();
    const second = await dev(dataDir);
    expect([tokenOf(dataDir), await statusWith(second.url, token)]).toEqual([token, 200]);
    await second.stop();
  });

  it('creates a new token if its token file is empty or truncated, as after a power failure', async () => {
    for (const [name, text] of [
      ['empty', ''],
      ['blank', ' \n'],
      ['short', 'fg_'],
    ] as const) {
      const dataDir = join(folder, `dev-${name}`);
      mkdirSync(dataDir);
      writeFileSync(join(dataDir, 'api-token'), text);
      const floodgate = await dev(dataDir);
      try {
        expect(tokenOf(dataDir)).toMatch(/^fg_[A-Za-z0-9_-]{40}$/);
        expect(await statusWith(floodgate.url, tokenOf(dataDir))).toBe(200);
      } finally {
        await floodgate.stop();
      }
    }
  });
});
