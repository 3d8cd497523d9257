import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type GuardedChild, spawnGuarded } from './spawn.ts';
import { until } from './until.ts';

/** ClickHouse's engine as a library, installed by `.ci/run`. Tests and benchmarks run in the repository's folder. */
const CHDB = resolve('.ci/clickhouse/node_modules/chdb');
const BRIDGE = resolve('test/support/clickHouseBridge.cjs');
/** Contains characters that must be escaped in a URL. */
const PASSWORD = 'pass/w@rd of tests';

export const hasClickHouse = existsSync(CHDB);

/** Suffix for names of tests that are skipped without ClickHouse. */
export const WITHOUT_CLICKHOUSE = hasClickHouse
  ? ''
  : ' (the engine of ClickHouse is not installed: npm install --ignore-scripts --no-package-lock --prefix .ci/clickhouse)';

/** The real ClickHouse engine in a separate process, with a small HTTP server of the tests. */
export class ClickHouseServer {
  readonly #folder: string;
  #child: GuardedChild | undefined;
  #log = '';
  port = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts a server whose data is in a new folder below `parent`. */
  static async start(parent = tmpdir()): Promise<ClickHouseServer> {
    const server = new ClickHouseServer(mkdtempSync(join(parent, 'floodgate-clickhouse-')));
    await server.restart();
    return server;
  }

  /** Starts the process, again after `kill`, with the existing data and on the same port. */
  async restart(): Promise<void> {
    const args = [CHDB, this.#folder, PASSWORD, String(this.port)];
    const child = spawnGuarded(process.execPath, [BRIDGE, ...args]);
    this.#child = child;
    this.#log = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        this.#log += chunk;
      });
    this.port = await until('ClickHouse to start', () => {
      if (child.exitCode !== null) throw new Error(this.#log);
      const [, port] = /listening (\d+)/.exec(this.#log) ?? [];
      return port === undefined ? undefined : Number(port);
    });
  }

  /** Id of the process that runs the engine and the HTTP server. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  url({ password = PASSWORD, port = this.port } = {}): string {
    return `clickhouse://floodgate:${encodeURIComponent(password)}@127.0.0.1:${port}/floodgate`;
  }

  /** Returns the text result of a statement. */
  async query(sql: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.port}/`, {
      method: 'POST',
      headers: { 'X-ClickHouse-User': 'floodgate', 'X-ClickHouse-Key': PASSWORD },
      body: sql,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text.trim();
  }

  /** Ends the process with SIGKILL, as the out-of-memory killer does. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
