/**
 * dnsdist from Debian's package in front of NSD, driven by Floodgate: legitimate queries and refusals under a flood
 * of fixed rate.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verdictOf } from '../../src/dns/detector/index.ts';
import { driveDnsdist } from '../../test/dns/support/driveDnsdist.ts';
import { startDnsdist } from '../../test/dns/support/realDnsdist.ts';
import { startNsd } from '../../test/dns/support/realServer.ts';
import { floods, NAMES, writeQueries, ZONE, zoneText } from './names.ts';
import { type Flood, flood, floodOfSources, legitimate } from './processes.ts';

const LEGIT_PER_SECOND = 500;
const FLOOD_PER_SECOND = 20_000;
const FLOOD_SECONDS = 10;
const FLOOD_LINES = 300_000;
/** Nearly the default limit of open sockets per process. */
const SOURCES = 18_000;

export interface DnsdistFigure {
  readonly flood: string;
  readonly floodPerSecond: number;
  readonly legitAnswered: number;
  readonly legitP99Ms: number;
  /** Share of the flood that was dropped, from the counter of dnsdist's rule. */
  readonly refused: number;
}

export async function benchDnsdist(): Promise<DnsdistFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
  const server = await startNsd(ZONE, zoneText(), { nice: -15 });
  const figures: DnsdistFigure[] = [];
  try {
    for (const [name, line] of Object.entries(floods)) {
      const file = join(folder, 'flood');
      writeQueries(file, line, FLOOD_LINES);
      figures.push(
        await underFlood(name, server, (port) =>
          flood(port, file, { perSecond: FLOOD_PER_SECOND, hasOwnCores: false }),
        ),
      );
    }
    const fromMany = (port: number) => floodOfSources(port, SOURCES);
    figures.push(await underFlood(`1 query/s from each of ${SOURCES}`, server, fromMany));
    return figures;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function underFlood(
  name: string,
  server: Awaited<ReturnType<typeof startNsd>>,
  start: (port: number) => Flood | Promise<Flood>,
): Promise<DnsdistFigure> {
  const dnsdist = await startDnsdist(server);
  const stamp = '2026-11-20T10:00:00.000000+00:00';
  const sensitivities = {
    profile_sensitivity: 'medium',
    rate_sensitivity: 'medium',
    burst_sensitivity: 'medium',
  } as const;
  const guard = await driveDnsdist({
    consoles: [dnsdist.console],
    key: dnsdist.key,
    dnstap: dnsdist.dnstap,
    folder: dnsdist.folder,
    zones: [{ name: ZONE, file: server.zoneFile }],
    rules: {
      list: () => [
        {
          id: 'bench',
          scope: 'global',
          name: 'global',
          mode: 'enabled',
          ...sensitivities,
          created_on: stamp,
          modified_on: stamp,
        },
      ],
      onChange: () => () => {},
    },
  });
  try {
    // The rules and the names are in force before the flood begins.
    while (
      guard.seeding.missing().length > 0 ||
      guard.dataPlane.knownNames() <= NAMES ||
      !guard.dataPlane.hasRules()
    )
      await new Promise((resolve) => setTimeout(resolve, 50));
    const running = await start(dnsdist.port);
    const legit = await legitimate(dnsdist.port, LEGIT_PER_SECOND, FLOOD_SECONDS);
    const { sent, seconds } = await running.stop();
    await guard.dataPlane.count();
    const refused = guard.dataPlane.verdicts()[verdictOf('dropped', 'unknownName')] ?? 0;
    return {
      flood: name,
      floodPerSecond: sent / seconds,
      legitAnswered: legit.answered / legit.sent,
      legitP99Ms: legit.p99Ms,
      refused: refused / sent,
    };
  } finally {
    await guard.stop();
    await dnsdist.stop();
  }
}
