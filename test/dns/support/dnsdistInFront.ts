import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveZones, ZoneData } from '../../../src/dns/authority/index.ts';
import type { AccessListSource } from '../../../src/dns/controller/index.ts';
import { outcomeOf, reasonOf, type Verdict } from '../../../src/dns/detector/index.ts';
import type { Rule } from '../../../src/rules/index.ts';
import { until } from '../../support/until.ts';
import { query, type UdpClient } from './dnsClient.ts';
import { type DnsdistGuard, driveDnsdist } from './driveDnsdist.ts';
import { atEnd } from './ends.ts';
import { TestRules, ZONE_NAME, ZONE_TEXT } from './guardInFront.ts';
import { udp } from './opened.ts';
import { type RealDnsdist, startDnsdist } from './realDnsdist.ts';

const LOOPBACK = '127.0.0.1';

/** A guard that drives dnsdist in front of a server, and a client of it. */
export interface Running {
  readonly dnsdist: RealDnsdist;
  readonly guard: DnsdistGuard;
  readonly rules: TestRules;
  readonly client: UdpClient;
  readonly zoneFile: string;
}

export const running = (...rules: Rule[]): Promise<Running> => runningWith(rules);

export async function runningWith(rules: Rule[], lists?: AccessListSource): Promise<Running> {
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
  const client = await udp();
  return { dnsdist, guard, rules: source, client, zoneFile };
}

/** Resolves when dnsdist has the rule that was set last: a rule is read a turn after it is set. */
export const inForce = (guard: DnsdistGuard, rules: TestRules): Promise<true> =>
  until('the rule is in force', () => guard.detector.rule === rules.list()[0] && guard.dataPlane.hasRules());

/** Sends random names until the condition holds: each round is answered by a known name first. */
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

/** A hundred queries every few milliseconds until the condition holds. */
export async function floodWith(
  { client, dnsdist }: Running,
  { type, nameOf }: { readonly type: number; readonly nameOf: (n: number) => string },
  condition: () => Promise<boolean>,
): Promise<void> {
  let sent = 0;
  await until('the flood is refused', () => {
    for (let i = 0; i < 100; i++, sent++)
      client.send(query(`${nameOf(sent)}.${ZONE_NAME}`, type, 10_000 + (sent % 50_000)), dnsdist);
    return condition();
  });
}

/** What a rule of dnsdist's has matched, once it has seen all that was sent to it. */
export async function settled(matched: () => Promise<number>): Promise<number> {
  let last = -1;
  await until('dnsdist has seen everything', async () => {
    const before = last;
    last = await matched();
    return last === before;
  });
  return last;
}

/** Queries that were refused, or would be, for one reason or any. */
export async function refused({ dataPlane }: DnsdistGuard, because?: string): Promise<number> {
  await dataPlane.count();
  return [...dataPlane.verdicts()].reduce((sum, queries, number) => {
    const verdict = number as Verdict; // an index of the table of verdicts
    const isRefusal = !['passed', 'paid'].includes(outcomeOf(verdict));
    return isRefusal && (because === undefined || reasonOf(verdict) === because) ? sum + queries : sum;
  }, 0);
}
