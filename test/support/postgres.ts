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
/** User for PostgreSQL if the tests run as root, because PostgreSQL refuses to run as root. */
const OWNER = 'postgres';
/** Contains characters that must be escaped in a URL. */
const PASSWORD = 'pass/w@rd of tests';

/** Folder of PostgreSQL's programs; undefined if it is not installed. */
export const postgresFolder: string | undefined = [
  ...(existsSync(DEBIAN) ? readdirSync(DEBIAN) : [])
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, 'bin')),
  ...(process.env['PATH'] ?? '').split(':'),
].find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));

/** Suffix for names of tests that are skipped without PostgreSQL. */
export const WITHOUT_POSTGRES = postgresFolder === undefined ? ' (PostgreSQL is not installed)' : '';

/** A PostgreSQL server for one test file. */
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

  /** Starts a server on a free port, with settings such as `max_connections=10`, in a folder below `parent`. */
  static async start(settings: readonly string[] = [], parent = tmpdir()): Promise<Postgres> {
    const folder = mkdtempSync(join(parent, 'floodgate-postgres-'));
    const postgres = new Postgres(folder, settings);
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, PASSWORD);
    if (isRoot) for (const file of [folder, passwordFile]) chownSync(file, ...ownerIds());
    // Small WAL segments, because the file system of the folder may be small.
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

  /** Starts a standby that replicates a primary. */
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

  /** Creates a file with the owner and mode that PostgreSQL requires. */
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

  /** Starts the server with its existing data, also after `stop` or `kill`. */
  async restart(): Promise<void> {
    const settings = [
      `port=${this.port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${this.#folder}`,
      'shared_buffers=16MB',
      'max_wal_size=64MB',
      // Tests end the server, never the machine, so its files need not reach the disk.
      'fsync=off',
      ...this.#settings,
    ];
    const [file, ...args] = asOwner('postgres', [
      '-D',
      this.data,
      ...settings.flatMap((setting) => ['-c', setting]),
    ]);
    // Processes of a killed server may use its shared memory for a moment, so the start is retried.
    await until('PostgreSQL to start', async () => {
      this.#log = '';
      const child = spawnGuarded(file, args);
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          this.#log += chunk;
        });
      const ended = new Promise<boolean>((resolve) => child.once('exit', () => resolve(false)));
      const ready = until('PostgreSQL to be ready or to exit', () =>
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

  /** Whether the server has exited, for any reason. */
  get hasEnded(): boolean {
    const child = this.#child;
    return child === undefined || child.exitCode !== null || child.signalCode !== null;
  }

  /** Kills the main process, as the out-of-memory killer does; the others then end. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Stops the server and closes all connections. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  async remove(): Promise<void> {
    await this.#end('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Runs statements as the superuser, and returns the rows of the last. */
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

/** Returns the command without a shell or another process in between, so that signals reach the server. */
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
