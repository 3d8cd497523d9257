import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { nodeFlagsOf, PROGRAM } from '../support/program.ts';
import { type RunningProgram, runProgram } from '../support/runProgram.ts';
import { TOKEN } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const LABELS = { [`0x${'ab'.repeat(20)}`]: 'Vault' };

let folder: string;
let file: string;
let server: RunningProgram | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-reload-'));
  file = join(folder, 'floodgate.yaml');
  const labels = join(folder, 'labels.json');
  writeFileSync(labels, JSON.stringify(LABELS));
  writeFileSync(file, stringify({ role: 'rules', port: 0, console: { labels } }));
});
afterEach(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

/** Starts a server in the folder of the file. `$0` in the words for `--config` stands for the file. */
const start = (config: string, env: Readonly<Record<string, string>> = {}): Promise<RunningProgram> =>
  runProgram(['start', '--data-dir', join(folder, 'data')], {
    env: cleanEnvironment({ FLOODGATE_API_TOKEN: TOKEN, ...env }),
    cwd: folder,
    command: [
      ...(['bash', '-c', `exec "$@" ${config}`, file] as const),
      process.execPath,
      ...nodeFlagsOf(PROGRAM),
      PROGRAM,
    ],
  });

async function labelsOf(url: string): Promise<unknown> {
  const answer = await fetch(`${url}/client/v4/gateway/names`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  return ((await answer.json()) as { result: { labels: unknown } }).result.labels;
}

interface Case {
  readonly what: string;
  /** Words for `--config`. */
  readonly config: string;
  readonly change?: () => void;
  readonly reason: RegExp;
}

const MISSING = /the configuration file \S*floodgate.yaml cannot be read: ENOENT/;
const CASES: readonly Case[] = [
  {
    what: 'is a pipe',
    config: '--config <(cat "$0")',
    reason: /the configuration file \/dev\/fd\/\d+ cannot be read again: it is not a regular file/,
  },
  {
    what: 'is standard input',
    config: '--config - < "$0"',
    reason: /the configuration file - cannot be read again: it is not a regular file/,
  },
  {
    what: 'was emptied',
    config: '--config "$0"',
    change: () => writeFileSync(file, '\n'),
    reason: /the configuration file \S*floodgate.yaml is empty/,
  },
  { what: 'was removed', config: '--config "$0"', change: () => rmSync(file), reason: MISSING },
  { what: 'has the default name, and was removed', config: '', change: () => rmSync(file), reason: MISSING },
];

it.each(CASES)(
  'SIGHUP changes nothing if the configuration file $what',
  async ({ config, change, reason }) => {
    const running = await start(config);
    server = running;
    expect(await labelsOf(running.url)).toEqual(LABELS);
    change?.();
    running.process.kill('SIGHUP');
    const lines = await until(
      'the end of the reload',
      () => running.output().match(/^.*configuration (?:reloaded|reload failed).*$/m) ?? undefined,
    );
    expect(lines?.[0]).toMatch(reason);
    expect(await labelsOf(running.url)).toEqual(LABELS);
  },
);

it('SIGHUP does not end a server without workers and labels, and logs the options that need a restart', async () => {
  const config = { role: 'rules', port: 0 };
  writeFileSync(file, stringify(config));
  const running = await start('--config "$0"');
  server = running;
  writeFileSync(file, stringify({ ...config, gateway: { cacheMemoryBytes: 0 }, stopDelayMs: 1 }));
  running.process.kill('SIGHUP');
  await until('the end of the reload', () => running.output().includes('"configuration reloaded"'));
  expect(running.output()).toMatch(
    /"options":\["stopDelayMs","gateway"\],"msg":"changed options need a restart, and are ignored until then"/,
  );
  expect(await labelsOf(running.url)).toEqual({});
});

it('SIGHUP does not end a server that is still starting', async () => {
  // The server handles SIGINT from the first part of its start on.
  const hangUp = `process.on('newListener', (name) => name === 'SIGINT' && process.kill(process.pid, 'SIGHUP'))`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hangUp)}`;
  const running = await start('--config "$0"', { NODE_OPTIONS });
  server = running;
  expect(await labelsOf(running.url)).toEqual(LABELS);
});

it('SIGHUP reads no new labels if the workers cannot start with the new configuration', async () => {
  const labels = join(folder, 'labels.json');
  const config = {
    role: 'gateway,ingest,rules',
    port: 0,
    workers: 2,
    upstream: ['http://127.0.0.1:9'],
    ops: { port: 0 },
    console: { labels },
  };
  writeFileSync(file, stringify(config));
  const running = await start('--config "$0"');
  server = running;
  const opsUrl = /"opsUrl":"([^"]+)"/.exec(running.output())?.[1] ?? '';
  expect(await labelsOf(opsUrl)).toEqual(LABELS);
  writeFileSync(labels, '{}');
  writeFileSync(file, stringify({ ...config, gateway: { methods: ['eth_none'] } }));
  running.process.kill('SIGHUP');
  await until('the log message', () => running.output().includes('configuration reload failed'));
  expect(await labelsOf(opsUrl)).toEqual(LABELS);
});
