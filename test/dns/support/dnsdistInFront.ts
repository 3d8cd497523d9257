import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveZones, ZoneData } from '../../../src/dns/authority/index.ts';
import type { AccessListSource } from '../../../src/dns/controller/index.ts';
import { outcomeOf, reasonOf, type Verdict } from '../../../src/dns/detector/index.ts';
import type { Rule } from '../../../src/rules/index.ts';
import { until } from '../../support/until.ts';
import { atEnd } from './atEnd.ts';
import { openUdpClient } from './clients.ts';
import { query, type UdpClient } from './dnsClient.ts';
import { type DnsdistGuard, driveDnsdist } from './driveDnsdist.ts';
import { TestRules, ZONE_NAME, ZONE_TEXT } from './guardInFront.ts';
import { type RealDnsdist, startDnsdist } from './realDnsdist.ts';

const LOOPBACK = '127.0.0.1';

/** A guard that drives dnsdist in front of a server, and a client. */
export interface Running {
  readonly dnsdist: RealDnsdist;
  readonly guard: DnsdistGuard;
  readonly rules: TestRules;
  readonly client: UdpClient;
  readonly zoneFile: string;
}

export const startDnsdistGuard = (...rules: Rule[]): Promise<Running> => startDnsdistGuardWith(rules);

export async function startDnsdistGuardWith(rules: Rule[], lists?: AccessListSource): Promise<Running> {
  const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  atEnd(() => server.stop());
  const dnsdist = await startDnsdist(server);
  atEnd(() => dnsdist.stop());
  const zoneFile = join(dnsdist.folder, 'zone');
  await writeFile(zoneFile, ZONE_TEXT);
  const source = new TestRules(rules);
  const guard = await driveDnsdist({
    rules: source,
    ...(lists && { lists }),
    consoles: [dnsdist.console],
    key: dnsdist.key,
    dnstap: dnsdist.dnstap,
    folder: dnsdist.folder,
    zones: [{ name: ZONE_NAME, file: zoneFile }],
    detector: { profile: { maxNames: 10_000 } },
  });
  atEnd(() => guard.stop());
  await guard.seeding.tried;
  const client = await openUdpClient();
  return { dnsdist, guard, rules: source, client, zoneFile };
}

/** Resolves when dnsdist has the rule that was set last; the guard reads a rule in the tick after it is set. */
export const waitUntilInForce = (guard: DnsdistGuard, rules: TestRules): Promise<true> =>
  until(
    'the rule to be in force',
    () => guard.detector.rule === rules.list()[0] && guard.dataPlane.hasRules(),
  );

/** Sends random names until the condition is true. A known name must be answered in each round. */
export async function floodUntil(
  { client, dnsdist }: Running,
  condition: () => Promise<boolean>,
): Promise<void> {
  for (let i = 0; !(await condition()); i++) {
    for (let j = 0; j < 100; j++)
      client.send(query(`x${i}-${j}.${ZONE_NAME}`, 1, 10_000 + ((i * 100 + j) % 50_000)), dnsdist);
    await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dnsdist);
  }
}

/** Sends a hundred queries every few milliseconds until the condition is true. */
export async function floodWith(
  { client, dnsdist }: Running,
  { type, nameOf }: { readonly type: number; readonly nameOf: (n: number) => string },
  condition: () => Promise<boolean>,
): Promise<void> {
  let sent = 0;
  await until('the flood to be limited', () => {
    for (let i = 0; i < 100; i++, sent++)
      client.send(query(`${nameOf(sent)}.${ZONE_NAME}`, type, 10_000 + (sent % 50_000)), dnsdist);
    return condition();
  });
}

/** Returns the count of a dnsdist rule after dnsdist has processed everything sent to it. */
export async function waitUntilStable(matched: () => Promise<number>): Promise<number> {
  let last = -1;
  await until('the count of the dnsdist rule to stop changing', async () => {
    const before = last;
    last = await matched();
    return last === before;
  });
  return last;
}

/** Returns the number of queries that were limited, for one reason or for any. */
export async function countLimited({ dataPlane }: DnsdistGuard, because?: string): Promise<number> {
  await dataPlane.count();
  return [...dataPlane.verdicts()].reduce((sum, queries, number) => {
    const verdict = number as Verdict; // an index of the table of verdicts
    const isRefusal = !['passed', 'paid'].includes(outcomeOf(verdict));
    return isRefusal && (because === undefined || reasonOf(verdict) === because) ? sum + queries : sum;
  }, 0);
}
