import { execFile } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort, startOnFreePort } from './freePort.ts';
import { type GuardedChild, spawnGuarded } from './spawn.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';
/** Who PostgreSQL runs as where the tests are root's, for whom it does not run. */
const OWNER = 'postgres';
/** With what a URL has to escape. */
const PASSWORD = 'pass/w@rd of tests';

/** Where PostgreSQL's programs are; undefined where there are none. */
export const postgresFolder: string | undefined = [
  ...(existsSync(DEBIAN) ? readdirSync(DEBIAN) : [])
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, 'bin')),
  ...(process.env['PATH'] ?? '').split(':'),
].find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));

/** Behind the name of what is skipped without it. */
export const WITHOUT_POSTGRES = postgresFolder === undefined ? ' (PostgreSQL is not installed)' : '';

/** A PostgreSQL of a test's own. */
export class Postgres {
  readonly #folder: string;
  readonly #settings: readonly string[];
  #child: GuardedChild | undefined;
  #log = '';
  port = 0;

  private constructor(folder: string, settings: readonly string[]) {
    this.#folder = folder;
    this.#settings = settings;
  }

  /** On a free port, with settings such as `max_connections=10`, in a folder below `parent`. */
  static async start(settings: readonly string[] = [], parent = tmpdir()): Promise<Postgres> {
    const folder = mkdtempSync(join(parent, 'floodgate-postgres-'));
    const postgres = new Postgres(folder, settings);
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, PASSWORD);
    if (isRoot) for (const file of [folder, passwordFile]) chownSync(file, ...ownerIds());
    // Small pieces of its log of changes: a folder may be small.
    const options = [
      '--no-sync',
      '--wal-segsize=1',
      '-A',
      'scram-sha-256',
      '-U',
      'floodgate',
      `--pwfile=${passwordFile}`,
    ];
    const [file, ...args] = asOwner('initdb', ['-D', postgres.data, '-E', 'UTF8', ...options]);
    await run(file, args);
    await startOnFreePort(async () => {
      postgres.port = await freePort();
      await postgres.restart();
    });
    return postgres;
  }

  /** A standby that follows a primary. */
  static async follow(primary: Postgres): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-postgres-'));
    if (isRoot) chownSync(folder, ...ownerIds());
    const standby = new Postgres(folder, primary.#settings);
    const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'floodgate'];
    const options = ['-D', standby.data, '--write-recovery-conf', '--no-sync', '--checkpoint=fast'];
    const [file, ...args] = asOwner('pg_basebackup', [...from, ...options]);
    await run(file, args, { env: { ...process.env, PGPASSWORD: PASSWORD } });
    await startOnFreePort(async () => {
      standby.port = await freePort();
      await standby.restart();
    });
    return standby;
  }

  /** A file of the server's own, as PostgreSQL wants them. */
  put(name: string, text: string): string {
    const file = join(this.#folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (isRoot) chownSync(file, ...ownerIds());
    return file;
  }

  get data(): string {
    return join(this.#folder, 'data');
  }

  url({ user = 'floodgate', password = PASSWORD, database = 'postgres', port = this.port } = {}): string {
    return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  }

  get output(): string {
    return this.#log;
  }

  /** Starts it again on what it has, after `stop` or `kill`. */
  async restart(): Promise<void> {
    const settings = [
      ...[`port=${this.port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${this.#folder}`],
      ...['shared_buffers=16MB', 'max_wal_size=64MB', ...this.#settings],
    ];
    const [file, ...args] = asOwner('postgres', [
      '-D',
      this.data,
      ...settings.flatMap((setting) => ['-c', setting]),
    ]);
    // Processes of one that was killed may hold its memory for a moment.
    await until('PostgreSQL starts', async () => {
      this.#log = '';
      const child = spawnGuarded(file, args);
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          this.#log += chunk;
        });
      const ended = new Promise<boolean>((resolve) => child.once('exit', () => resolve(false)));
      const ready = until('it is ready or has ended', () =>
        /database system is ready to accept (read-only )?connections/.test(this.#log) ||
        child.exitCode !== null
          ? { isReady: child.exitCode === null }
          : undefined,
      );
      const isReady = (await Promise.race([ended, ready.then((found) => found.isReady)])) === true;
      if (isReady) this.#child = child;
      else if (!/shared memory|postmaster\.pid/.test(this.#log)) throw new Error(this.#log);
      return isReady;
    });
  }

  /** Whether it has ended, by itself or not. */
  get hasEnded(): boolean {
    const child = this.#child;
    return child === undefined || child.exitCode !== null || child.signalCode !== null;
  }

  /** Its first process alone, as the out-of-memory killer would: the others end by themselves. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Cuts all connections. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  async remove(): Promise<void> {
    await this.#end('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Runs statements as the superuser. */
  async query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url({ database }) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const results = await client.query(sql);
      return [results].flat().at(-1)?.rows ?? [];
    } finally {
      await client.end();
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

const isRoot = process.getuid?.() === 0;

/** Without a shell and without a process in between: a signal reaches the server. */
function asOwner(program: string, args: readonly string[]): [string, ...string[]] {
  const file = join(postgresFolder ?? '', program);
  if (!isRoot) return [file, ...args];
  return ['setpriv', `--reuid=${OWNER}`, `--regid=${OWNER}`, '--clear-groups', '--', file, ...args];
}

function ownerIds(): [number, number] {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${OWNER}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return [Number(uid), Number(gid)];
}
