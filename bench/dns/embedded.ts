/** The embedded data plane in front of NSD: what the guard costs, and what of the legitimate queries survives a flood. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNsd } from '../../test/dns/support/realServer.ts';
import type { GuardTask } from './guardProcess.ts';
import { floods, knownLine, NAMES, writeQueries, ZONE, zoneText } from './names.ts';
import { type Flood, flood, floodOfSources, forkGuard, legitimate, throughput } from './processes.ts';

const LEGIT_PER_SECOND = 500;
const FLOOD_LINES = 300_000;
/** Pairs of runs, one with the guard and one without: the machine's noise falls on both. */
const ROUNDS = 5;
const ROUND_SECONDS = 4;
const FLOOD_SECONDS = 10;
const WARM_UP_PER_SECOND = 5000;
/** As many sockets as a process may have open by default here, nearly. */
const SOURCES = 18_000;

export interface EmbeddedFigures {
  readonly ratio: number;
  readonly guardedPerSecond: number;
  readonly plainPerSecond: number;
  readonly floods: readonly FloodFigure[];
}

export interface FloodFigure {
  readonly flood: string;
  readonly guarded: boolean;
  readonly sensitivity: string;
  readonly floodPerSecond: number;
  readonly legitAnswered: number;
  readonly legitP99Ms: number;
}

export async function benchEmbedded(): Promise<EmbeddedFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
  const server = await startNsd(ZONE, zoneText(), { nice: -15 });
  try {
    const task = (guarded: boolean, sensitivity: GuardTask['sensitivity'] = 'medium'): GuardTask => ({
      server: { host: server.host, port: server.port },
      zone: ZONE,
      zoneFile: server.zoneFile,
      guarded,
      sensitivity,
    });
    const known = join(folder, 'known');
    writeQueries(known, knownLine, FLOOD_LINES);
    const pairs = await comparePairs(task(true, 'very_high'), task(false), known);
    const figures: FloodFigure[] = [];
    for (const [name, line] of Object.entries(floods)) {
      const file = join(folder, 'flood');
      writeQueries(file, line, FLOOD_LINES);
      const fullSpeed = (port: number) => flood(port, file);
      figures.push(await underFlood(name, fullSpeed, task(true)));
      if (name === 'random names') {
        figures.push(await underFlood(name, fullSpeed, task(true, 'low')));
        figures.push(await underFlood(name, fullSpeed, task(false)));
      }
    }
    const fromMany = (port: number) => floodOfSources(port, SOURCES);
    figures.push(await underFlood(`1 query/s from each of ${SOURCES}`, fromMany, task(true)));
    return { ...pairs, floods: figures };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function comparePairs(guarded: GuardTask, plain: GuardTask, queries: string) {
  const rates: { on: number; off: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const one = async (task: GuardTask): Promise<number> => {
      const guard = await forkGuard(task);
      await throughput(guard.port, queries, 1);
      const perSecond = await throughput(guard.port, queries, ROUND_SECONDS);
      await guard.stop();
      return perSecond;
    };
    // Which of the two comes first changes from round to round.
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
  name: string,
  start: (port: number) => Flood | Promise<Flood>,
  task: GuardTask,
): Promise<FloodFigure> {
  const guard = await forkGuard(task);
  // A guard that has been running: its code is compiled when the flood comes.
  await legitimate(guard.port, WARM_UP_PER_SECOND, 2, NAMES);
  const running = await start(guard.port);
  const legit = await legitimate(guard.port, LEGIT_PER_SECOND, FLOOD_SECONDS, NAMES);
  const { sent, seconds } = await running.stop();
  await guard.stop();
  return {
    flood: name,
    guarded: task.guarded,
    sensitivity: task.sensitivity,
    floodPerSecond: sent / seconds,
    legitAnswered: legit.answered / legit.sent,
    legitP99Ms: legit.p99Ms,
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
