import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from './support/call.ts';
import { floodgate } from './support/command.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

let server: RulesServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const run = (...args: string[]) => floodgate(args, { env: { FLOODGATE_DATA_DIR: server.dataDir } });
const create = async (account: string, token?: string) =>
  (await call(server, { method: 'POST', path: rulesPath(account), body: newRule, ...(token && { token }) }))
    .json.result;

async function audit(...flags: string[]) {
  const { status, stdout, stderr } = await run('audit', '--json', ...flags);
  expect(status, stderr).toBe(0);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Exit code for invalid arguments. */
const WRONG_USAGE = 64;

describe('floodgate audit', () => {
  it('prints actor, time, address and both states of each rule change', async () => {
    const token = JSON.parse((await run('token', 'create', '--json', '--account', 'a1')).stdout);
    const rule = await create('a1', token.token);
    const path = `${rulesPath('a1')}/${rule.id}`;
    const patch = { method: 'PATCH', path, body: { mode: 'disabled' }, token: token.token };
    const changed = (await call(server, patch)).json.result;
    await call(server, patch);
    await call(server, { method: 'DELETE', path, token: token.token });
    const common = { by: token.id, from: '127.0.0.1', account: 'a1', rule: rule.id };
    expect(await audit('--account', 'a1')).toEqual([
      { ...common, at: rule.created_on, action: 'rule.create', after: rule },
      { ...common, at: changed.modified_on, action: 'rule.update', before: rule, after: changed },
      { ...common, at: expect.any(String), action: 'rule.delete', before: changed },
    ]);
  });

  it('prints tokens that were created and revoked on the command line', async () => {
    const { id } = JSON.parse((await run('token', 'create', '--json', '--all-accounts')).stdout);
    await run('token', 'revoke', id);
    const entries = (await audit('--all')).filter((entry) => entry.token === id);
    expect(entries).toMatchObject([
      { action: 'token.create', by: expect.stringMatching(/^cli:/), from: 'local' },
      { action: 'token.revoke', before: { all_accounts: true }, after: { revoked_on: expect.any(String) } },
    ]);
    expect(entries[0]).not.toHaveProperty('before');
    expect(entries[1].before).not.toHaveProperty('revoked_on');
  });

  it('filters by rule, time and number of entries', async () => {
    const made = [await create('a2'), await create('a2'), await create('a2')];
    const rules = async (...flags: string[]) =>
      (await audit('--account', 'a2', ...flags)).map((entry) =>
        made.findIndex(({ id }) => id === entry.rule),
      );
    expect(await rules()).toEqual([0, 1, 2]);
    expect(await rules('--rule', made[1].id)).toEqual([1]);
    expect(await rules('--limit', '2')).toEqual([1, 2]);
    expect(await rules('--since', '1h')).toEqual([0, 1, 2]);
    expect(await rules('--until', '1h')).toEqual([]);
    expect(await rules('--since', '2099-01-01')).toEqual([]);
    expect(await rules('--all')).toEqual([0, 1, 2]);
  });

  it('prints a table by default', async () => {
    const rule = await create('a3');
    await call(server, {
      method: 'PATCH',
      path: `${rulesPath('a3')}/${rule.id}`,
      body: { mode: 'disabled' },
    });
    const [headings, first, second] = (await run('audit', '--account', 'a3')).stdout.split('\n');
    expect(headings?.split(/ {2,}/)).toEqual([
      'WHEN (UTC)',
      'WHO',
      'FROM',
      'WHAT',
      'ACCOUNT',
      'ID',
      'CHANGE',
    ]);
    expect(first).toMatch(
      /configured:[0-9a-f]{16} +127\.0\.0\.1 +rule\.create +a3 +[0-9a-f-]{36} +global global, enabled$/,
    );
    expect(second).toMatch(/rule\.update +a3 +[0-9a-f-]{36} +mode: enabled → disabled$/);
  });

  it.each([
    [['--account', 'a b'], WRONG_USAGE, 'An account id is'],
    [['--since', 'yesterday'], WRONG_USAGE, 'is not a time'],
    [['--limit', '0'], WRONG_USAGE, 'whole number from 1'],
  ])('rejects %j with a message', async (args, code, message) => {
    const { status, stderr } = await run('audit', ...args);
    expect([status, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});
