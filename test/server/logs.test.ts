import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { freePort } from '../support/freePort.ts';
import { PROGRAM } from '../support/program.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** `script` of util-linux runs a command in a terminal. Other implementations have other flags. */
const hasScript = /util-linux/.test(spawnSync('script', ['--version']).stdout?.toString() ?? '');
const SECRET = 'a-secret-in-a-body';

describe('the log', () => {
  let floodgate: Floodgate;
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-log-'));

  beforeAll(async () => {
    floodgate = await startFloodgate({ args: ['--log-level', 'debug'] });
  });
  afterAll(async () => {
    await floodgate?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const rules = (): string =>
    `${floodgate.url}/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules`;

  it('is JSON with one event per line if standard error is not a terminal', () => {
    const lines = floodgate.output().trim().split('\n');
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({
        level: expect.any(Number),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        msg: expect.any(String),
      });
  });

  it('contains no token and no request body, even at level debug', async () => {
    const headers = { authorization: `Bearer ${floodgate.token}` };
    const wrong = { authorization: 'Bearer fg_another_secret' };
    for (const [sent, body] of [
      [headers, `{"name":"${SECRET}"}`],
      [headers, `{"${SECRET}`],
      [wrong, `{"name":"${SECRET}"}`],
      [{ authorization: SECRET }, '{}'],
    ] as const)
      await fetch(rules(), { method: 'POST', headers: sent, body });
    for (const secret of [floodgate.token, 'fg_another_secret', SECRET])
      expect(floodgate.output()).not.toContain(secret);
  });

  // src/rules/api/internalError.test.ts tests that an internal error is logged with this id.
  it('is referenced by a unique X-Request-Id in each response', async () => {
    const ids = new Set<string | null>();
    for (let i = 0; i < 3; i++) ids.add((await fetch(rules())).headers.get('x-request-id'));
    expect(ids.size).toBe(3);
    expect(ids).not.toContain(null);
  });

  it('is formatted as text on a terminal', async (ctx) => {
    if (!hasScript) ctx.skip('script (util-linux) is not installed');
    const command = `exec ${process.execPath} ${PROGRAM} start --role rules --port 0 --data-dir ${folder}/data`;
    const child = spawnGuarded('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      cwd: folder,
      env: cleanEnvironment(),
      stdin: 'pipe',
    });
    const ended = once(child, 'close');
    let written = '';
    child.stdout.on('data', (chunk) => {
      written += chunk;
    });
    await until('the log message "listening"', () => written.includes('listening'));
    // Ctrl-C, which the terminal converts to SIGINT.
    child.stdin?.write('\x03');
    expect(await ended).toEqual([0, null]);
    const text = stripVTControlCharacters(written);
    expect(text).toMatch(/\[\d\d:\d\d:\d\d\] INFO: listening/);
    expect(text).toContain('stopped');
    expect(text).not.toContain('{"level"');
  });
});

it('a server starts, responds and stops if its log pipe is full', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-unread-log-'));
  const pipe = join(folder, 'log');
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
  // Open for reading and writing, and full.
  const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(end, 'x'.repeat(4096));
  }).toThrow('EAGAIN');
  const port = await freePort();
  const command = `exec "$0" "$1" start --role rules --port ${port} --data-dir "$2" 2> "$3"`;
  const child = spawnGuarded('sh', ['-c', command, process.execPath, PROGRAM, `${folder}/data`, pipe], {
    cwd: folder,
    env: cleanEnvironment(),
  });
  const ended = once(child, 'exit');
  const answer = await until('a response of the server', () =>
    fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined),
  );
  expect(await answer.text()).toContain('floodgate_log_lines_dropped_total 0');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  closeSync(end);
  rmSync(folder, { recursive: true, force: true });
});
