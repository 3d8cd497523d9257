/**
 * The embedded data plane in front of NSD: the cost of the guard, and the share of legitimate queries answered during
 * a flood.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RealServer, startNsd } from '../../test/dns/support/realServer.ts';
import { newerNode } from '../../test/support/newerNode.ts';
import { sides } from './cores.ts';
import type { GuardTask } from './guardProcess.ts';
import { floods, knownLine, writeQueries, ZONE, zoneText } from './names.ts';
import { type Flood, flood, floodOfSources, forkGuard, legitimate, throughput } from './processes.ts';

const LEGIT_PER_SECOND = 500;
const FLOOD_LINES = 300_000;
/** Number of pairs of runs, with and without the guard, so that noise of the machine affects both. */
const ROUNDS = 5;
const ROUND_SECONDS = 4;
const FLOOD_SECONDS = 10;
const WARM_UP_PER_SECOND = 5000;
/** Nearly the default limit of open sockets per process. */
const SOURCES = 18_000;

export interface EmbeddedFigures {
  readonly ratio: number;
  readonly guardedPerSecond: number;
  readonly plainPerSecond: number;
  readonly floods: readonly FloodFigure[];
}

export interface FloodFigure {
  readonly flood: string;
  readonly node: string;
  readonly threads: number;
  readonly guarded: boolean;
  readonly sensitivity: string;
  readonly floodPerSecond: number;
  readonly legitAnswered: number;
  readonly legitP99Ms: number;
}

/**
 * Measures the guard on the Node of this process, and during floods also on a newer one if it is installed, because
 * only that can share a port among threads.
 */
export async function benchEmbedded(): Promise<EmbeddedFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
  try {
    return { ...(await knownNames(folder)), floods: await fullSpeedFloods(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type TaskOf = (guarded: boolean, sensitivity?: GuardTask['sensitivity']) => GuardTask;

const taskFor =
  ({ host, port, zoneFile }: RealServer): TaskOf =>
  (guarded, sensitivity = 'medium') => ({
    server: { host, port },
    zone: ZONE,
    zoneFile,
    guarded,
    sensitivity,
  });

async function knownNames(folder: string) {
  const server = await startNsd(ZONE, zoneText(), { nice: -15 });
  try {
    const task = taskFor(server);
    const known = join(folder, 'known');
    writeQueries(known, knownLine, FLOOD_LINES);
    return await comparePairs(task(true, 'very_high'), task(false), known);
  } finally {
    await server.stop();
  }
}

async function fullSpeedFloods(folder: string): Promise<FloodFigure[]> {
  const server = await startNsd(ZONE, zoneText(), { nice: -15, cores: sides?.defended });
  try {
    const task = taskFor(server);
    const newest = newerNode() ?? process.execPath;
    const figures: FloodFigure[] = [];
    for (const [name, line] of Object.entries(floods)) {
      const file = join(folder, 'flood');
      writeQueries(file, line, FLOOD_LINES);
      const fullSpeed = { name, start: (port: number) => flood(port, file, { hasOwnCores: true }) };
      figures.push(await underFlood(fullSpeed, task(true), newest));
      if (name !== 'random names') continue;
      figures.push(await underFlood(fullSpeed, task(true, 'low'), newest));
      figures.push(await underFlood(fullSpeed, task(false), newest));
      if (newest === process.execPath) continue;
      figures.push(await underFlood(fullSpeed, task(true), process.execPath));
      figures.push(await underFlood(fullSpeed, task(false), process.execPath));
    }
    const fromMany = {
      name: `1 query/s from each of ${SOURCES}`,
      start: (port: number) => floodOfSources(port, SOURCES),
    };
    figures.push(await underFlood(fromMany, task(true), newest));
    return figures;
  } finally {
    await server.stop();
  }
}

async function comparePairs(guarded: GuardTask, plain: GuardTask, queries: string) {
  const rates: { on: number; off: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const one = async (task: GuardTask): Promise<number> => {
      const guard = await forkGuard(task, { node: process.execPath, hasOwnCores: false });
      await throughput(guard.port, queries, 1);
      const perSecond = await throughput(guard.port, queries, ROUND_SECONDS);
      await guard.stop();
      return perSecond;
    };
    // The order of the two alternates between rounds.
    const first = await one(round % 2 === 0 ? guarded : plain);
    const second = await one(round % 2 === 0 ? plain : guarded);
    rates.push(round % 2 === 0 ? { on: first, off: second } : { on: second, off: first });
  }
  return {
    ratio: median(rates.map(({ on, off }) => on / off)),
    guardedPerSecond: median(rates.map(({ on }) => on)),
    plainPerSecond: median(rates.map(({ off }) => off)),
  };
}

async function underFlood(
  { name, start }: { readonly name: string; readonly start: (port: number) => Flood | Promise<Flood> },
  task: GuardTask,
  node: string,
): Promise<FloodFigure> {
  const guard = await forkGuard(task, { node, hasOwnCores: true });
  // Warm-up, so that the guard's code is compiled when the flood begins.
  await legitimate(guard.port, WARM_UP_PER_SECOND, 2);
  const running = await start(guard.port);
  const legit = await legitimate(guard.port, LEGIT_PER_SECOND, FLOOD_SECONDS);
  const { sent, seconds } = await running.stop();
  await guard.stop();
  return {
    flood: name,
    node: execFileSync(node, ['--version']).toString().trim(),
    threads: guard.threads,
    guarded: task.guarded,
    sensitivity: task.sensitivity,
    floodPerSecond: sent / seconds,
    legitAnswered: legit.answered / legit.sent,
    legitP99Ms: legit.p99Ms,
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
