/**
 * Compares all guards under the same floods in one run, each on a single core together with the upstream server: `npm
 * run bench:dns -- compare`. A selection takes a minute: `--guards embedded,dnsdist --floods "random names" --rates
 * 20000,full --sensitivity low --seconds 5`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ProfileSensitivity, profileSensitivities } from '../../src/rules/index.ts';
import { type RealServer, startNsd } from '../../test/dns/support/realServer.ts';
import { newerNode } from '../../test/support/newerNode.ts';
import { sides } from './cores.ts';
import { type DefendedTask, GUARDS, type GuardKind } from './defended.ts';
import { floods, knownFloods, ZONE, zoneText } from './names.ts';
import { floodOfSources, type LegitResult, legitimate } from './processes.ts';

const ONE_CORE = '0';
const LEGIT_PER_SECOND = 500;
/**
 * Rate without a flood, to warm up and to measure the cost of a guard. The users have 32 addresses, because a dnsdist
 * that counts by address would limit a single one.
 */
const COST_PER_SECOND = 1000;
const SOURCES = 10_000;
const CLOCK_TICKS_PER_SECOND = 100;
/** Index of the steal time in a line of /proc/stat, after its name: proc_stat(5). */
const STEAL_FIELD = 7;
const TASKSET = '/usr/bin/taskset';
const ALL_FLOODS = { ...floods, ...knownFloods };

interface Choice {
  readonly guards: readonly GuardKind[];
  readonly floods: readonly string[];
  /** Queries per second; undefined for the maximum. */
  readonly rates: readonly (number | undefined)[];
  readonly sensitivity: ProfileSensitivity;
  readonly seconds: number;
}

export async function compare(args: readonly string[]): Promise<void> {
  const choice = choiceOf(args);
  if (sides === undefined || !existsSync(TASKSET))
    throw new Error('the comparison needs two cores and taskset');
  const node = newerNode() ?? process.execPath;
  const server = await startNsd(ZONE, zoneText(), { nice: -15, cores: ONE_CORE });
  try {
    for (const guard of choice.guards) {
      const stolen = stealing();
      const { legit, cpuMicros } = await costOf(guard, { server, choice, node });
      console.log(
        `${guard.padEnd(11)} no flood: ${percent(legit)} of ${COST_PER_SECOND}/s answered, p99 ${legit.p99Ms.toFixed(2)} ms, ` +
          `${cpuMicros.toFixed(1)} us of processor per query (${stolen()})`,
      );
    }
    for (const flood of choice.floods)
      for (const rate of choice.rates)
        for (const guard of choice.guards) {
          const stolen = stealing();
          const { legit, floodPerSecond } = await underFlood(guard, { server, flood, rate, choice, node });
          console.log(
            `${guard.padEnd(11)} ${choice.sensitivity.padEnd(9)} ${flood.padEnd(24)} ${String(rate ?? 'full').padStart(6)}/s: ` +
              `${percent(legit)} of users answered, p99 ${legit.p99Ms.toFixed(1)} ms (sent ${floodPerSecond.toFixed(0)}/s, ${stolen()})`,
          );
        }
  } finally {
    await server.stop();
  }
}

const percent = ({ answered, sent }: LegitResult): string =>
  `${((100 * answered) / sent).toFixed(2).padStart(6)} %`;

async function costOf(guard: GuardKind, { server, choice, node }: Pick<Case, 'server' | 'choice' | 'node'>) {
  const defended = await defend(
    { guard, server, zoneFile: server.zoneFile, sensitivity: choice.sensitivity },
    node,
  );
  try {
    await legitimate(defended.port, COST_PER_SECOND, 2);
    const before = cpuSeconds(defended.pid);
    const legit = await legitimate(defended.port, COST_PER_SECOND, choice.seconds);
    return { legit, cpuMicros: ((cpuSeconds(defended.pid) - before) * 1e6) / legit.sent };
  } finally {
    await defended.stop();
  }
}

interface Case {
  readonly server: RealServer;
  readonly flood: string;
  readonly rate: number | undefined;
  readonly choice: Choice;
  readonly node: string;
}

async function underFlood(guard: GuardKind, { server, flood, rate, choice, node }: Case) {
  const { sensitivity, seconds } = choice;
  const defended = await defend({ guard, server, zoneFile: server.zoneFile, sensitivity }, node);
  try {
    // Warm-up, so that the guard's code is compiled when the flood begins.
    await legitimate(defended.port, COST_PER_SECOND, 2);
    const running = await floodOfSources(defended.port, SOURCES, { flood, perSecond: rate });
    const legit = await legitimate(defended.port, LEGIT_PER_SECOND, seconds);
    const { sent, seconds: lasted } = await running.stop();
    return { legit, floodPerSecond: sent / lasted };
  } finally {
    await defended.stop();
  }
}

async function defend({ server: { host, port }, ...task }: DefendedTask, node: string) {
  const script = fileURLToPath(new URL('defended.js', import.meta.url));
  const args = ['-c', ONE_CORE, node, script, JSON.stringify({ ...task, server: { host, port } })];
  const child = spawn(TASKSET, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ port: at }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port: at,
    pid: child.pid ?? 0,
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/**
 * Returns a function that reports the share of the guard's core stolen by other virtual machines; measurements with a
 * high share are invalid.
 */
function stealing(): () => string {
  const ticks = (): number => {
    const line = new RegExp(`^cpu${ONE_CORE} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '';
    return Number(line.split(' ')[STEAL_FIELD]);
  };
  const [before, startMs] = [ticks(), performance.now()];
  return () => {
    const seconds = (performance.now() - startMs) / 1_000;
    return `${((100 * (ticks() - before)) / CLOCK_TICKS_PER_SECOND / seconds).toFixed(0)} % stolen`;
  };
}

/** Returns the processor time of a process and its descendants. */
function cpuSeconds(pid: number): number {
  const statOf = (id: string): string[] => {
    try {
      return readFileSync(`/proc/${id}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
    } catch {
      return [];
    }
  };
  let ticks = 0;
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const [, parent, ...rest] = statOf(id);
    const grandparent = statOf(parent ?? '')[1];
    if (![id, parent, grandparent].includes(String(pid))) continue;
    ticks += Number(rest[9]) + Number(rest[10]);
  }
  return ticks / CLOCK_TICKS_PER_SECOND;
}

function choiceOf(args: readonly string[]): Choice {
  const { values } = parseArgs({
    args: [...args],
    options: {
      guards: { type: 'string', default: GUARDS.join(',') },
      floods: { type: 'string', default: Object.keys(floods).join(',') },
      rates: { type: 'string', default: '20000,50000,full' },
      sensitivity: { type: 'string', default: 'low' },
      seconds: { type: 'string', default: '10' },
    },
  });
  return {
    guards: values.guards.split(',').map((name) => oneOf(GUARDS, name)),
    floods: values.floods.split(',').map((name) => oneOf(Object.keys(ALL_FLOODS), name)),
    rates: values.rates.split(',').map((rate) => (rate === 'full' ? undefined : Number(rate))),
    sensitivity: oneOf(profileSensitivities, values.sensitivity),
    seconds: Number(values.seconds),
  };
}

function oneOf<T extends string>(known: readonly T[], name: string): T {
  const found = known.find((one) => one === name);
  if (found === undefined) throw new Error(`${name} is not one of ${known.join(', ')}`);
  return found;
}
