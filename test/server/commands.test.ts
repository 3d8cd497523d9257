import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programFor } from '../../src/cli/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { startHttpServer } from '../support/httpServer.ts';
import { PROGRAM } from '../support/program.ts';
import { smallFileSystem, temporaryFolder } from '../support/smallFileSystem.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { floodgate, run } from './support/run.ts';

/** An address without a listener. */
const NOBODY = '127.0.0.1:9';
const SECRET = 'a-secret-that-nobody-may-see';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-commands-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('floodgate status', () => {
  const servers: Floodgate[] = [];
  beforeAll(async () => {
    const guard = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', NOBODY];
    servers.push(
      await startFloodgate({ args: guard }),
      await startFloodgate({ upstream: `http://${NOBODY}`, whenListening: true }),
    );
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  it('prints every part of a ready server, and exits with 0', async () => {
    const { code, stdout, stderr } = await floodgate(['status', '--url', `${servers[0]?.url}/client/v4`]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Floodgate at http:\/\/127\.0\.0\.1:\d+: ready, up since \d{4}-/);
    expect(stdout).toMatch(/^ {2}store +ok$/m);
    expect(stdout).toMatch(/^ {2}DNS +no attack, servers up: \d.*, 0 names known \(learning/m);
    expect(stdout.split('\n').length).toBeLessThan(24);
    await until('the DNS servers to be unhealthy', async () => {
      const later = await floodgate(['status', '--url', servers[0]?.url ?? '']);
      return later.stdout.includes('servers up: 0, SERVERS OVERLOADED OR DOWN, 0 names known');
    });
  });

  it('prints why a server is not ready, and exits with 1', async () => {
    const env = { FLOODGATE_URL: servers[1]?.url ?? '' };
    const shown = await floodgate(['status'], { env });
    expect(shown.code).toBe(1);
    expect(shown.stdout).toContain('NOT READY');
    expect(shown.stdout).toMatch(/^ {2}mainnet +0 of 1 nodes up, no block indexed yet/m);
    const { code, stdout } = await floodgate(['status', '--json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ready: false,
      checks: { store: 'ok' },
      networks: [{ network: 'mainnet', nodes: 1, nodesUp: 0 }],
      dns: null,
    });
  });

  it('exits with 69 if there is no server, or another program', async () => {
    const other = await startHttpServer((_body, _request, response) => {
      response.end('{"status":3}\u001b[2J');
    });
    for (const url of [`http://${NOBODY}`, other.url]) {
      const { code, stdout, stderr } = await floodgate(['status', '--url', url]);
      expect([code, stdout]).toEqual([69, '']);
      expect(stderr).toContain(`no status from ${url}`);
      expect(stderr).not.toContain('\u001b');
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    await other.stop();
  });
});

it('the error of a server cannot control the terminal', async () => {
  const server = await startHttpServer((_body, _request, response) => {
    response.statusCode = 400;
    response.end(JSON.stringify({ success: false, errors: [{ code: 1, message: 'a\u001b[2J\u009b2J\nb' }] }));
  });
  const env = { FLOODGATE_URL: server.url, FLOODGATE_TOKEN: `fg_${'a'.repeat(40)}`, FLOODGATE_ACCOUNT: 'a' };
  const { code, stderr } = await floodgate(['rules', 'list'], { env });
  await server.stop();
  expect(code).toBe(1);
  expect(stderr).toContain('HTTP 400: a\ufffd[2J\ufffd2J\nb (1)\n');
});

describe('a full disk', () => {
  it('is reported without a stack trace', () => {
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${PROGRAM}" config print > /dev/full`],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([1, 'floodgate: ENOSPC: no space left on device, write\n']);
  });

  it('stops a backup, which names the store, the folder and what to do', async (context) => {
    const dataDir = temporaryFolder();
    await openRulesStorage(dataDir).close();
    const target = join(smallFileSystem(context, 4096).folder, 'backup');
    const { code, stderr } = await floodgate(['backup', target, '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `floodgate: cannot copy rules into ${target}: No space left on device. Free space or choose another folder, and remove this incomplete backup\n`,
    );
  });
});

describe('floodgate config', () => {
  it('prints every option with its source, and no secret', async () => {
    const token = join(folder, 'api-token');
    writeFileSync(token, `${SECRET}\n`);
    const file = join(folder, 'one.yaml');
    writeFileSync(
      file,
      `port: 9001\nlog: { level: debug }\nnetworks: { other: { upstream: ["http://n/${SECRET}"] } }`,
    );
    const args = ['config', 'print', '--json', '--config', file, '--host', '::1'];
    const env = {
      FLOODGATE_PORT: '9002',
      FLOODGATE_API_TOKEN_FILE: token,
      FLOODGATE_UPSTREAM: `https://user:${SECRET}@node.example:8545/${SECRET},http://plain.example:1`,
    };
    const { code, stdout, stderr } = await floodgate(args, { env, cwd: folder });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain(SECRET);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const of = (option: string) => lines.find((line) => line.option === option);
    expect(of('port')).toEqual({ option: 'port', value: 9002, from: 'FLOODGATE_PORT' });
    expect(of('host')).toEqual({ option: 'host', value: '::1', from: '--host' });
    expect(of('log.level')).toEqual({ option: 'log.level', value: 'debug', from: file });
    expect(of('dataDir')).toEqual({ option: 'dataDir', value: 'floodgate-data', from: 'default' });
    expect(of('apiToken')).toEqual({
      option: 'apiToken',
      value: '(hidden)',
      from: 'FLOODGATE_API_TOKEN_FILE',
    });
    expect(of('networks').value).toBe('(hidden)');
    expect(of('upstream').value).toEqual(['https://node.example:8545/(hidden)', 'http://plain.example:1']);
    const table = await floodgate(
      args.filter((word) => word !== '--json'),
      { env, cwd: folder },
    );
    expect(table.stdout).toMatch(/^apiToken +\(hidden\) +FLOODGATE_API_TOKEN_FILE$/m);
    expect(table.stdout).not.toContain(SECRET);
  });

  it('reports whether the configuration is valid, and which variables are ignored', async () => {
    const env = { FLOODGATE_PROT: '1', FLOODGATE_PORT: '9002' };
    const usable = await floodgate(['config', 'check', '--role', 'rules'], { env, cwd: folder });
    expect(usable).toMatchObject({
      code: 0,
      stdout: 'The configuration is valid: 2 options are set.\n',
    });
    expect(usable.stderr).toContain('warning: FLOODGATE_PROT');
    const wrong = await floodgate(['config', 'check', '--port', '99999'], { cwd: folder });
    expect(wrong).toMatchObject({ code: 64, stdout: '' });
    expect(wrong.stderr).toContain('--port');
  });

  it.each([
    ['{ account: a }', 'dns.servers is empty'],
    [
      '{ account: a, listen: ["127.0.0.1:5353"], servers: ["127.0.0.1:5353"] }',
      'where the guard itself listens',
    ],
    ['{ account: a, servers: ["192.0.2.1:53"], zones: [a.test=a, A.test.=b] }', 'the zone a.test twice'],
    ['{ account: a, dnsdistConsoles: ["192.0.2.1:5199"] }', 'dns.dnsdistKey is required'],
  ])('rejects options that contradict each other, as a start does: dns: %s', async (dns, says) => {
    const file = join(folder, 'dns.yaml');
    writeFileSync(file, `role: rules,guard\ndns: ${dns}\n`);
    const { code, stderr } = await floodgate(['config', 'check', '--config', file], { cwd: folder });
    expect(code).toBe(64);
    expect(stderr).toContain(says);
  });

  it.each([
    ['is missing', 'none', 'cannot be read'],
    ['is empty', 'empty', 'is empty'],
    ['is a device', '/dev/zero', 'only regular files are allowed'],
  ])('rejects a file for a secret that %s', async (_what, name, says) => {
    writeFileSync(join(folder, 'empty'), ' \n');
    const env = { FLOODGATE_API_TOKEN_FILE: name };
    const { code, stderr } = await floodgate(['config', 'check'], { env, cwd: folder });
    expect(code).toBe(64);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('the commands', () => {
  const all = async (): Promise<Command[]> => {
    const below = (command: Command): Command[] => [command, ...command.commands.flatMap(below)];
    return below(await programFor());
  };
  const longs = (command: Command): string[] =>
    command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '');

  it('list fewer than 16 options in their help, except start and dev', async () => {
    for (const command of await all())
      if (!['start', 'dev'].includes(command.name()))
        expect(longs(command).length, `${command.parent?.name()} ${command.name()}`).toBeLessThan(16);
  });

  it('have a description in one line that starts in lower case and has no full stop', async () => {
    const [, ...commands] = await all();
    const others = commands.filter((command) => !/^[a-z].*[^.]$/.test(command.description()));
    expect(others.map((command) => `${command.name()}: ${command.description()}`)).toEqual([]);
  });

  it('have --json if they list or show something', async () => {
    const lists = (await all()).filter(
      (command) =>
        command.commands.length === 0 &&
        (command.name() === 'list' || /^list|^show/.test(command.description())),
    );
    expect(lists.length).toBeGreaterThan(5);
    const without = lists.filter((command) => !longs(command).includes('--json'));
    expect(without.map((command) => `${command.parent?.name()} ${command.name()}`)).toEqual(['dns watch']);
  });

  /** Completes the words like bash when Tab is pressed, and like zsh with completion scripts for bash. */
  const PRESS_TAB =
    'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _floodgate; printf "%s\\n" "$' + '{COMPREPLY[@]}"';

  describe.each<[shell: string, script: (file: string) => string]>([
    ['bash', (file) => `. ${file}; ${PRESS_TAB}`],
    ['zsh', (file) => `. ${file}; emulate sh; ${PRESS_TAB}`],
    ['fish', (file) => `source ${file}; complete -C "$argv"`],
  ])('in %s', (shell, script) => {
    const isThere = spawnSync(shell, ['-c', 'true']).status === 0;
    it('are completed with subcommands, options and values', async (context) => {
      if (!isThere) context.skip(`needs ${shell}`);
      const { stdout } = await floodgate(['completion', shell]);
      const file = join(folder, `completion.${shell}`);
      writeFileSync(file, stdout);
      // The first argument after the script is $0, except in fish.
      const name = shell === 'fish' ? [] : [shell];
      const completed = async (...words: string[]): Promise<string[]> => {
        const args = ['-c', script(file), ...name, 'floodgate', ...words];
        const { code, stdout, stderr } = await run(shell, args);
        expect([code, stderr]).toEqual([0, '']);
        // zsh filters by the prefix itself.
        const beginsAsTyped = (word: string): boolean =>
          shell !== 'zsh' || word.startsWith(words.at(-1) ?? '');
        return stdout.trim().split(/\s+/).filter(beginsAsTyped).sort();
      };
      expect(await completed('st')).toEqual(['start', 'status', 'store']);
      expect(await completed('config', '')).toEqual(['--help', 'check', 'print']);
      expect(await completed('--help', 'rules', 'li')).toEqual(['list']);
      expect(await completed('rules', 'create', '--mode', '')).toEqual(['disabled', 'enabled', 'monitoring']);
      expect(await completed('key', 'list', '--da')).toEqual(['--data-dir']);
      expect(await completed('start', '--upstr')).toEqual(['--upstream']);
      expect(await completed('$(touch /tmp/never)', 'rul')).toEqual(['rules']);
    });
  });
});
