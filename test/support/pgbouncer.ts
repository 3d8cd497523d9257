import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startOnFreePort } from './freePort.ts';
import type { Postgres } from './postgres.ts';
import { type GuardedChild, spawnGuarded } from './spawn.ts';
import { until } from './until.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

export const hasPgbouncer = existsSync(PROGRAM);

/** A pgbouncer in transaction mode in front of a PostgreSQL server. */
export class Pgbouncer {
  port = 0;
  #child: GuardedChild | undefined;

  private constructor() {}

  static async start(postgres: Postgres, folder: string): Promise<Pgbouncer> {
    const pooler = new Pgbouncer();
    const { username, password } = new URL(postgres.url());
    const users = join(folder, 'users');
    writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`, { mode: 0o644 });
    await startOnFreePort(async () => {
      pooler.port = await freePort();
      const config = join(folder, `pgbouncer-${pooler.port}.ini`);
      writeFileSync(
        config,
        `[databases]
* = host=127.0.0.1 port=${postgres.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${pooler.port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 2
query_wait_timeout = 5
server_login_retry = 1
`,
      );
      await pooler.#run(config);
    });
    return pooler;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Starts the program. It does not run as root. */
  async #run(config: string): Promise<void> {
    const args = [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), config];
    const child = spawnGuarded(PROGRAM, args);
    this.#child = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    await until(
      'pgbouncer to listen or to exit',
      () => output.includes('process up') || child.exitCode !== null,
    );
    if (child.exitCode !== null) throw new Error(output);
  }
}
