import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { floodgate, run } from './support/run.ts';

const made = mkdtempSync(join(tmpdir(), 'floodgate-hostile-files-'));
const at = (name: string): string => join(made, name);
beforeAll(() => void execFileSync('mkfifo', [at('pipe')]));
afterAll(() => rmSync(made, { recursive: true }));

/** Arguments and variables of a command that reads the file. */
type Reads = (file: string) => { readonly args: readonly string[]; readonly env?: Record<string, string> };

const START = ['start', '--port', '0', '--data-dir', at('data')];
const COMMANDS: readonly [name: string, Reads][] = [
  ['a configuration', (file) => ({ args: ['config', 'check', '--config', file] })],
  ['a rules file', (file) => ({ args: ['rules', 'plan', file] })],
  ['a token file', (file) => ({ args: ['rules', 'list', '--token-file', file, '--account', 'a'] })],
  ['a secret', (file) => ({ args: ['config', 'check'], env: { FLOODGATE_API_TOKEN_FILE: file } })],
  ['a recording', (file) => ({ args: ['dns', 'replay', file] })],
  ['zone policies', (file) => ({ args: ['dns', 'replay', 'none', '--zones', file] })],
  ['a learned profile', (file) => ({ args: ['dns', 'profile', 'import', file, '--data-dir', at('data')] })],
  ['traces', (file) => ({ args: ['import', '--traces', file, '--headers', file, '--data-dir', at('data')] })],
  ['ABIs', (file) => ({ args: [...START, '--role', 'rules', '--console-abis', file] })],
  [
    'a certificate',
    (file) => ({ args: [...START, '--role', 'rules', '--tls-cert', file, '--tls-key', file] }),
  ],
  [
    'TSIG keys',
    (file) => ({
      args: [...START, '--role', 'rules,guard', '--dns-servers', '127.0.0.1:1', '--dns-account', 'a'],
      env: { FLOODGATE_DNS_TSIG_KEY_FILES: file },
    }),
  ],
  [
    'a certificate for PostgreSQL',
    (file) => ({
      args: [
        ...START,
        '--role',
        'rules',
        '--rules-store',
        `postgres://localhost/a?sslmode=require&sslrootcert=${file}`,
      ],
    }),
  ],
  [
    'a certificate for ClickHouse',
    (file) => ({
      args: [
        ...START,
        '--role',
        'gateway',
        '--upstream',
        'http://127.0.0.1:9',
        '--trace-store',
        `clickhouse://db.example/a?ca=${file}`,
      ],
    }),
  ],
];
it.each(COMMANDS)(
  'a command that reads %s from a named pipe ends with an error',
  async (_name, commandFor) => {
    const { args, env } = commandFor(at('pipe'));
    const { code, stderr } = await floodgate(args, { cwd: made, ...(env && { env }) });
    expect(stderr).toContain(`${at('pipe')} is a named pipe; only regular files are allowed`);
    expect(code).toBeGreaterThan(0);
  },
);

it('a command reads standard input, and the pipe of a process substitution', async () => {
  writeFileSync(at('config.yaml'), 'port: 99999\n');
  const program = `'${process.execPath}' '${PROGRAM}' config check --config`;
  for (const [line, name] of [
    [`${program} <(cat config.yaml)`, /^floodgate: port in \/dev\/fd\/\d+ is 99999/],
    [`cat config.yaml | ${program} /dev/stdin`, /^floodgate: port in \/dev\/stdin is 99999/],
    [`${program} /dev/stdin < config.yaml`, /^floodgate: port in \/dev\/stdin is 99999/],
  ] as const)
    expect((await run('bash', ['-c', line], { cwd: made })).stderr).toMatch(name);
});
