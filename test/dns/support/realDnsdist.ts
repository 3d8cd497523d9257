import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dnsdistConfiguration } from '../../../src/dns/dataplane/dnsdist/index.ts';
import type { Network } from '../../../src/platform/addresses/index.ts';
import { freePort, startOnFreePort } from '../../support/freePort.ts';
import { spawnGuarded } from '../../support/spawn.ts';
import { query, type Target, UdpClient } from './dnsClient.ts';

const LOOPBACK = '127.0.0.1';
const DNSDIST = '/usr/bin/dnsdist';

/** Reason why tests that need dnsdist are skipped; undefined if they can run. */
export const noDnsdist: string | undefined = existsSync(DNSDIST)
  ? undefined
  : 'dnsdist is not installed (on Debian: apt-get install dnsdist)';

export interface RealDnsdist extends Target {
  readonly console: Target;
  readonly key: string;
  readonly dnstap: Target;
  /** A folder that dnsdist can read and from which it loads its last rules. */
  readonly folder: string;
  /** Kills and restarts dnsdist; resolves with its output as soon as it answers. */
  restart(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the packaged dnsdist in front of a server, with the configuration that Floodgate generates. With `like`, the
 * new node shares the key and the dnstap address of that one.
 */
export function startDnsdist(
  server: Target,
  like?: RealDnsdist,
  transfersAllow: readonly Network[] = [],
): Promise<RealDnsdist> {
  return startOnFreePort(() => start(server, like, transfersAllow));
}

async function start(
  server: Target,
  like: RealDnsdist | undefined,
  transfersAllow: readonly Network[],
): Promise<RealDnsdist> {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-dnsdist-'));
  await chmod(folder, 0o755);
  const [listen, console, ownTap] = await Promise.all(
    [1, 2, 3].map(async () => ({ host: LOOPBACK, port: await freePort() })),
  );
  if (!listen || !console || !ownTap) throw new Error('expected three ports');
  const dnstap = like?.dnstap ?? ownTap;
  const key = like?.key ?? randomBytes(32).toString('base64');
  const file = join(folder, 'dnsdist.conf');
  await writeFile(
    file,
    dnsdistConfiguration({
      listen: [listen],
      servers: [server],
      console,
      key,
      dnstap,
      transfersAllow,
      folder,
    }),
  );
  let running = await run(file, listen);
  return {
    ...listen,
    console,
    key,
    dnstap,
    folder,
    async restart() {
      await running.stop();
      running = await run(file, listen);
      return running.output;
    },
    async stop() {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when dnsdist answers. */
async function run(file: string, listen: Target): Promise<{ output: string; stop(): Promise<void> }> {
  const child = spawnGuarded(DNSDIST, ['-C', file, '--supervised', '--disable-syslog']);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const exited = once(child, 'exit');
  const client = await new UdpClient().open();
  while (!client.answers.has(1)) {
    if (child.exitCode !== null) throw new Error(`dnsdist exited before it answered: ${output}`);
    client.send(query('example.test', 6, 1), listen);
    await client.wait(() => client.answers.has(1), 100);
  }
  client.close();
  return {
    output,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
