import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startOnFreePort } from '../../support/freePort.ts';
import { spawnGuarded } from '../../support/spawn.ts';
import { query, type Target, UdpClient } from './dnsClient.ts';

const LOOPBACK = '127.0.0.1';
const NSD = '/usr/sbin/nsd';

/** Reason why tests that need NSD are skipped; undefined if they can run. */
export const noNsd: string | undefined = existsSync(NSD)
  ? undefined
  : 'NSD is not installed (on Debian: apt-get install nsd)';

export interface RealServer extends Target {
  /** The zone file; `reload` makes the server read it again. */
  readonly zoneFile: string;
  reload(): Promise<void>;
  /** Stops all processes of the server with SIGSTOP, or resumes them. */
  setPaused(still: boolean): void;
  stop(): Promise<void>;
}

/** Starts the packaged NSD with one zone on loopback, with transfers allowed; `nice` is passed to nice(1). */
export function startNsd(zone: string, text: string, options: NsdOptions = {}): Promise<RealServer> {
  return startOnFreePort(() => start(zone, text, options));
}

/** A TSIG key in the form of server configurations. */
export interface ServerKey {
  readonly name: string;
  readonly algorithm: string;
  /** In base64. */
  readonly secret: string;
}

interface NsdOptions {
  /** The key required to transfer the zone. Default: none, and every loopback client may transfer. */
  readonly key?: ServerKey;
  /** Whether NSD limits identical answers to one address, which is its own default. Default: false. */
  readonly limitsRate?: boolean;
  readonly servers?: number;
  readonly nice?: number;
  /** Cores in the syntax of taskset(1). Default: all. */
  readonly cores?: string | undefined;
}

async function start(
  zone: string,
  text: string,
  { servers = 1, nice = 0, cores, key, limitsRate = false }: NsdOptions,
): Promise<RealServer> {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-nsd-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const zoneFile = join(folder, 'zone');
  await writeFile(zoneFile, text);
  const config = join(folder, 'nsd.conf');
  await writeFile(config, configOf({ folder, zone, zoneFile, port, servers, key, limitsRate }));
  const niceNsd = ['nice', '-n', String(nice), NSD, '-d', '-c', config];
  const [file = '', ...args] = cores === undefined ? niceNsd : ['taskset', '-c', cores, ...niceNsd];
  const child = spawnGuarded(file, args);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit');
  const standStill = (still: boolean): void => {
    // The id of a process that has ended may belong to another one.
    if (child.exitCode !== null || child.signalCode !== null) return;
    for (const pid of familyOf(child.pid ?? 0)) signal(pid, still ? 'SIGSTOP' : 'SIGCONT');
  };
  const address = { host: LOOPBACK, port };
  if (!(await answers(zone, address, child))) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`NSD exited before it answered: ${output}`);
  }
  return {
    ...address,
    zoneFile,
    async reload() {
      execFileSync('kill', ['-HUP', String(child.pid)]);
    },
    setPaused: standStill,
    async stop() {
      standStill(false);
      child.kill();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a signal to a process, unless it has ended: NSD ends its own processes at a reload. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Returns the ids of a process and of all its descendants; none if it has ended. */
function familyOf(pid: number): number[] {
  const children = childrenOf(pid);
  return children === undefined ? [] : [pid, ...children.flatMap(familyOf)];
}

/** Undefined if the process has ended. */
function childrenOf(pid: number): number[] | undefined {
  try {
    const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return ids.split(' ').filter(Boolean).map(Number);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

const NO_LIMIT = 'rrl-ratelimit: 0\n  rrl-whitelist-ratelimit: 0';

interface NsdConfig {
  readonly folder: string;
  readonly zone: string;
  readonly zoneFile: string;
  readonly port: number;
  readonly servers: number;
  readonly key: ServerKey | undefined;
  readonly limitsRate: boolean;
}

const configOf = ({ folder, zone, zoneFile, port, servers, key, limitsRate }: NsdConfig): string => `
server:
  ip-address: ${LOOPBACK}@${port}
  server-count: ${servers}
  username: ""
  chroot: ""
  database: ""
  pidfile: "${folder}/nsd.pid"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  xfrdir: "${folder}"
  ${limitsRate ? '' : NO_LIMIT}
  minimal-responses: yes
remote-control:
  control-enable: no
${key ? `key:\n  name: ${key.name}\n  algorithm: ${key.algorithm}\n  secret: "${key.secret}"\n` : ''}zone:
  name: ${zone}
  zonefile: ${zoneFile}
  provide-xfr: ${LOOPBACK} ${key?.name ?? 'NOKEY'}
`;

/** Resolves with true when the server answers, or with false if it exits before. */
async function answers(zone: string, target: Target, child: ChildProcess): Promise<boolean> {
  const client = await new UdpClient().open();
  try {
    while (child.exitCode === null) {
      client.send(query(zone, 6, 1), target);
      if (await client.wait(() => client.answers.has(1), 100)) return true;
    }
    return false;
  } finally {
    client.close();
  }
}
