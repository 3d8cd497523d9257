import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigSchema, optionsOf } from '../../src/config/index.ts';
import { floodgate } from './support/run.ts';

/** Exit code for invalid usage (sysexits.h). */
const EX_USAGE = 64;

describe('the command line', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function fileWith(text: string): string {
    const file = join(folder, `${Math.random()}.yaml`);
    writeFileSync(file, text);
    return file;
  }

  it('lists every command in --help', async () => {
    const { code, stdout } = await floodgate(['--help']);
    expect(code).toBe(0);
    for (const command of ['start', 'dev', 'rules', 'token', 'audit'])
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    expect(stdout).toContain('floodgate.yaml');
  });

  it.concurrent.each(['start', 'dev'])(
    'lists every option with its flag and its variable in %s --help-all',
    async (command) => {
      const { code, stdout } = await floodgate([command, '--help-all']);
      expect(code).toBe(0);
      const text = stdout.replace(/\s+/g, ' ');
      for (const { flag, variable, schema } of optionsOf(ConfigSchema)) {
        if (schema.fileOnly) continue;
        expect(text).toContain(`${flag} `);
        expect(text).toContain(variable);
        expect(text).toContain(schema.description);
      }
    },
  );

  it.concurrent.each(['start', 'dev'])('lists twenty options and examples in %s --help', async (command) => {
    const { code, stdout } = await floodgate([command, '--help']);
    expect(code).toBe(0);
    const flags = stdout.match(/^ {2}--[a-z-]+/gm) ?? [];
    expect(flags.filter((flag) => !['  --config', '  --help-all', '  --flood'].includes(flag))).toHaveLength(
      20,
    );
    for (const [i, line] of stdout.split('Examples:')[0]?.split('\n').entries() ?? [])
      expect(line.length, `line ${i}`).toBeLessThanOrEqual(80);
    expect(stdout).toContain(`    floodgate ${command}`);
  });

  interface Refused {
    readonly what: string;
    readonly args: () => readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly names: readonly string[];
  }
  const REFUSED: readonly Refused[] = [
    {
      what: 'start without a node',
      args: () => ['start'],
      names: ['--upstream', 'FLOODGATE_UPSTREAM', '--role rules', 'floodgate dev'],
    },
    {
      what: 'start of a guard without a role and a node',
      args: () => ['start', '--dns-account', 'a'],
      names: ['--upstream', '--role rules,guard'],
    },
    {
      what: 'the configuration of a gateway without a node',
      args: () => ['config', 'check'],
      names: ['--upstream', '--role rules'],
    },
    {
      what: 'a role without the roles it needs',
      args: () => ['start', '--role', 'gateway', '--upstream', 'http://127.0.0.1:9'],
      names: ['--role', '"gateway"', '--trace-store', '"gateway,ingest"'],
    },
    {
      what: 'a role that floodgate dev does not support',
      args: () => ['dev'],
      env: { FLOODGATE_ROLE: 'guard' },
      names: ['FLOODGATE_ROLE', '"guard"', 'all; rules; rules,guard', 'floodgate start'],
    },
    {
      what: 'an invalid flag',
      args: () => ['start', '--role', 'rules', '--port', '99999'],
      names: ['--port', '99999', '65535'],
    },
    {
      what: 'an invalid variable',
      args: () => ['start', '--role', 'rules'],
      env: { FLOODGATE_PORT: 'x' },
      names: ['FLOODGATE_PORT', '"x"', '65535'],
    },
    {
      what: 'an unknown flag',
      args: () => ['start', '--role', 'rules', '--prot', '1'],
      names: ['--prot', '--port'],
    },
    { what: 'an unknown command', args: () => ['strat'], names: ['strat', 'start'] },
    {
      what: 'an unknown option in the configuration file',
      args: () => ['start', '--config', fileWith('prot: 1')],
      names: ['prot', 'port'],
    },
    {
      what: 'a missing configuration file',
      args: () => ['start', '--config', join(folder, 'none.yaml')],
      names: ['none.yaml', 'cannot be read'],
    },
    {
      what: 'a folder as the configuration file',
      args: () => ['start', '--config', folder],
      names: ['cannot be read'],
    },
    {
      what: 'a missing configuration file named by FLOODGATE_CONFIG',
      args: () => ['start'],
      env: { FLOODGATE_CONFIG: '/nowhere.yaml' },
      names: ['/nowhere.yaml'],
    },
  ];

  it.concurrent.each(REFUSED)('rejects $what, and prints what to do', async ({ args, env = {}, names }) => {
    const ended = await floodgate(args(), { cwd: folder, env });
    expect(ended.code).toBe(EX_USAGE);
    for (const name of names) expect(ended.stderr).toContain(name);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
    expect(ended.stdout).toBe('');
  });

  it('does not print an invalid token', async () => {
    const env = { FLOODGATE_API_TOKEN: 'tooshort' };
    const { code, stderr } = await floodgate(['start', '--role', 'rules'], { cwd: folder, env });
    expect(code).toBe(EX_USAGE);
    expect(stderr).toContain('FLOODGATE_API_TOKEN');
    expect(stderr).not.toContain('tooshort');
  });
});
