import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floodgate } from './support/command.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const WRONG = 'fg_wrong';

let server: RulesServer;
let folder: string;
let files: Readonly<Record<'right' | 'wrong' | 'empty', string>>;
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), 'floodgate-client-token-'));
  files = {
    right: fileOf('right', `${TOKEN}\n`),
    wrong: fileOf('wrong', WRONG),
    empty: fileOf('empty', ' \n'),
  };
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function list(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const connection = { FLOODGATE_URL: server.baseUrl, FLOODGATE_ACCOUNT: 'a' };
  const ended = await floodgate(['rules', 'list', '--json', ...args], { env: { ...connection, ...env } });
  for (const secret of [TOKEN, WRONG]) expect(ended.stdout + ended.stderr).not.toContain(secret);
  expect(ended.stdout).toBe('');
  return ended;
}

describe('the token of a command', () => {
  it('is read from FLOODGATE_TOKEN without a warning, even if FLOODGATE_API_TOKEN is set', async () => {
    for (const env of [
      { FLOODGATE_TOKEN: TOKEN },
      { FLOODGATE_TOKEN: TOKEN, FLOODGATE_API_TOKEN: WRONG, FLOODGATE_API_TOKEN_FILE: files.wrong },
    ])
      expect(await list(env)).toEqual({ status: 0, stdout: '', stderr: '' });
    const { status, stderr } = await list({ FLOODGATE_TOKEN: WRONG, FLOODGATE_API_TOKEN: TOKEN });
    expect([status, stderr]).toEqual([1, expect.stringContaining('HTTP 401')]);
    expect(stderr).toContain('FLOODGATE_TOKEN or --token-file');
    expect(stderr).not.toContain('warning');
  });

  it('is read from a token file in preference to the variables', async () => {
    const wrong = { FLOODGATE_TOKEN: WRONG, FLOODGATE_API_TOKEN: WRONG };
    expect(await list(wrong, ['--token-file', files.right])).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(await list({ ...wrong, FLOODGATE_TOKEN_FILE: files.right })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('is read from the deprecated FLOODGATE_API_TOKEN and its file, with a warning', async () => {
    const token = await list({ FLOODGATE_API_TOKEN: TOKEN });
    expect([token.status, token.stderr]).toEqual([
      0,
      "warning: the token was read from FLOODGATE_API_TOKEN, the variable of the server's own token, which has all permissions; set FLOODGATE_TOKEN instead\n",
    ]);
    const file = await list({ FLOODGATE_API_TOKEN_FILE: files.right, FLOODGATE_API_TOKEN: WRONG });
    expect([file.status, file.stderr]).toEqual([
      0,
      "warning: the token was read from FLOODGATE_API_TOKEN_FILE, the file of the server's own token, which has all permissions; set FLOODGATE_TOKEN_FILE instead\n",
    ]);
  });

  it.each([
    ['is missing', {}, 'set FLOODGATE_TOKEN,'],
    ['is missing, with an empty deprecated variable,', { FLOODGATE_API_TOKEN: '' }, 'set FLOODGATE_TOKEN,'],
    // The server's own token must not replace an empty one: it has all permissions.
    ['is empty', { FLOODGATE_TOKEN: '', FLOODGATE_API_TOKEN: TOKEN }, 'FLOODGATE_TOKEN is empty'],
    ['has blanks', { FLOODGATE_TOKEN: 'fg_a b' }, 'in FLOODGATE_TOKEN has invalid characters'],
    ['is in a missing file', { FLOODGATE_TOKEN_FILE: '/not/there' }, 'cannot be read'],
  ] as const)('that %s is rejected before any request is sent', async (_, env, message) => {
    const { status, stderr } = await list(env);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).not.toContain('HTTP');
    expect(stderr).not.toContain('    at ');
  });

  it('in an empty file is rejected, although a variable contains one', async () => {
    const { status, stderr } = await list({ FLOODGATE_TOKEN: TOKEN, FLOODGATE_TOKEN_FILE: files.empty });
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${files.empty} is empty`)]);
  });

  it.each([
    [['rules', 'export']],
    [['rules', 'delete', '--all']],
    [['dns', 'watch', '--once']],
    [['dns', 'explain', 'www.example.test']],
  ])('is read from both variables by %j', async (args) => {
    const connection = { FLOODGATE_URL: server.baseUrl, FLOODGATE_ACCOUNT: 'a' };
    const fresh = await floodgate(args, { env: { ...connection, FLOODGATE_TOKEN: TOKEN } });
    const old = await floodgate(args, { env: { ...connection, FLOODGATE_API_TOKEN: TOKEN } });
    expect(fresh.stderr).not.toMatch(/warning|401|No API token/);
    const warning = /^warning: .*; set FLOODGATE_TOKEN instead\n/;
    expect(old).toEqual({ ...fresh, stderr: expect.stringMatching(warning) });
  });
});

it('the help of client commands names FLOODGATE_TOKEN and not the variable of the server', async () => {
  for (const args of [
    ['rules', 'list', '--help'],
    ['dns', 'watch', '--help'],
  ]) {
    const { stdout } = await floodgate(args);
    expect(stdout).toContain('FLOODGATE_TOKEN');
    expect(stdout).not.toContain('FLOODGATE_API_TOKEN');
  }
});
