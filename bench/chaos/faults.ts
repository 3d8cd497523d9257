import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import type { Target } from '../../test/dns/support/dnsClient.ts';
import type { Random } from '../../test/support/random.ts';
import { floodCalls, floodNames, stall } from './badClients.ts';
import { ZONE_NAME, ZONE_TEXT } from './dnsLoad.ts';
import type { Nodes } from './nodes.ts';
import type { Program } from './program.ts';
import { rest } from './tally.ts';

/** A fault; `run` ends it before it resolves. */
export interface Fault {
  readonly name: string;
  run(ms: number): Promise<void>;
}

/** Returns the faults of nodes and of the chain. */
export function nodeFaults(nodes: Nodes): readonly Fault[] {
  const ofEach = nodes.names.flatMap((name, i): Fault[] => [
    { name: `${name} dies`, run: (ms) => nodes.die(i, ms) },
    { name: `${name} hangs`, run: (ms) => nodes.hang(i, ms) },
    { name: `${name} is slow`, run: (ms) => nodes.slow(i, ms) },
    { name: `${name} truncates its responses`, run: (ms) => nodes.breakOff(i, ms) },
  ]);
  // A node that lied is not used for ten minutes, so only one node lies.
  const liar = nodes.names.length - 1;
  const lie: Fault = { name: `${nodes.names[liar]} lies`, run: (ms) => nodes.lie(liar, ms) };
  const reorganise: Fault = {
    name: 'the chain is reorganised',
    run: async () => nodes.reorganise(),
  };
  return [
    ...ofEach,
    lie,
    lie,
    reorganise,
    reorganise,
    reorganise,
    { name: 'all nodes are stopped', run: (ms) => nodes.stopAll(ms / 2) },
  ];
}

export interface Others {
  readonly program: Program;
  readonly guard: Target;
  readonly servers: DnsServers;
  readonly random: Random;
  /** Folder of a separate file system that can be filled. */
  readonly disk: string | undefined;
  /** Called after a restart, before the program is used. */
  readonly onStarted: () => Promise<void>;
}

/** Returns the faults of everything except nodes and the process. */
export function otherFaults({ program, guard, servers, random, disk }: Others): readonly Fault[] {
  return [
    { name: 'a DNS server is gone', run: (ms) => servers.gone(random.below(2), ms) },
    { name: 'all DNS servers are gone', run: (ms) => servers.allGone(ms / 2) },
    { name: 'clients stall', run: (ms) => stall(program, guard, ms) },
    { name: 'a flood of calls', run: (ms) => floodCalls(program, ms) },
    { name: 'a flood of unknown names', run: (ms) => floodNames(guard, random, ms) },
    ...(disk === undefined ? [] : [{ name: 'the disk is full', run: (ms: number) => fillDisk(disk, ms) }]),
  ];
}

/** Returns the faults of the process. */
export function processFaults({ program, onStarted }: Others): readonly Fault[] {
  const end = (signal: 'SIGKILL' | 'SIGTERM') => async (): Promise<void> => {
    await program.end(signal);
    await program.start(onStarted);
  };
  return [
    { name: 'the program is killed', run: end('SIGKILL') },
    { name: 'the program is killed', run: end('SIGKILL') },
    { name: 'the program is stopped and started', run: end('SIGTERM') },
  ];
}

/** The upstream servers of the guard. */
export class DnsServers {
  readonly targets: readonly Target[];
  readonly #servers: (AuthorityServer | undefined)[];
  readonly #zones = [new ZoneData(ZONE_TEXT, ZONE_NAME)];

  private constructor(servers: readonly AuthorityServer[]) {
    this.#servers = [...servers];
    this.targets = servers.map(({ host, port }) => ({ host, port }));
  }

  static async start(): Promise<DnsServers> {
    const zones = [new ZoneData(ZONE_TEXT, ZONE_NAME)];
    const start = () => serveZones(zones, '127.0.0.1', 0);
    return new DnsServers([await start(), await start()]);
  }

  async gone(i: number, ms: number): Promise<void> {
    const target = this.targets[i];
    await this.#servers[i]?.stop();
    await rest(ms);
    if (target !== undefined) this.#servers[i] = await serveZones(this.#zones, target.host, target.port);
  }

  async allGone(ms: number): Promise<void> {
    await Promise.all(this.targets.map((_, i) => this.gone(i, ms)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server?.stop()));
  }
}

const FREE_PAGES = 8;

async function fillDisk(folder: string, ms: number): Promise<void> {
  const filler = join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(filler, Buffer.alloc(Math.max(0, bavail - FREE_PAGES) * bsize));
  } catch {
    // The program filled the disk first.
  }
  await rest(ms);
  rmSync(filler);
}

/** Mounts a file system in memory at `folder`; returns undefined and prints a reason if that is not possible. */
export function mountDisk(folder: string, bytes: number): string | undefined {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], {
    encoding: 'utf8',
  });
  if (status === 0) return folder;
  console.log(`SKIPPED: no disk-full faults, because a tmpfs cannot be mounted here: ${stderr?.trim()}`);
  return undefined;
}

export const unmountDisk = (folder: string): void => {
  spawnSync('umount', ['-l', folder]);
};
