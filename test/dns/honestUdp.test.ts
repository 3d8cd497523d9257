/** Three honest worlds over UDP: the guard has learned for two hours, and a real server answers. */
import { describe, expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { FIRST_NOT_FORWARDED, FIRST_TRUNCATION, type ProfileStore } from '../../src/dns/detector/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { Random } from '../support/random.ts';
import { OTHER_ZONE } from './honest/attacks.ts';
import { combinations } from './honest/combinations.ts';
import { type Flow, HOUR, type World } from './honest/flows.ts';
import { policiesFor } from './honest/policies.ts';
import { seedZones } from './honest/seedZones.ts';
import { Simulation } from './honest/simulation.ts';
import { worlds } from './honest/worlds/index.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient, startGuarded } from './support/clients.ts';
import { query, type Target } from './support/dnsClient.ts';
import type { GuardSetup } from './support/guardInFront.ts';
import { noNsd, startNsd } from './support/realServer.ts';

/** Honest queries, and queries of a flood. Honest queries are fewer than the burst of every zone. */
const HONEST = 300;
const FLOOD = 15_000;
const BATCH = 20;
const ANSWERS_MS = 1000;
const MOST_LIMITED = 0.01;
const SENSITIVITIES = combinations.find(
  (one) =>
    one.profile_sensitivity === 'medium' &&
    one.rate_sensitivity === 'medium' &&
    one.burst_sensitivity === 'medium',
);

const wildcardsOf = (count: number): string =>
  Array.from({ length: count }, (_, n) => `*.${2 * n + 1} A 127.0.0.2`).join('\n');
const withSoa = (records: string): string => `$TTL 300
@ IN SOA ns1 hostmaster ( 1 3600 600 86400 300 )
@ NS ns1
ns1 A 192.0.2.1
${records}
`;

/** Zone data of the server, by name of the world. */
const served: Readonly<Record<string, { readonly zone: string; readonly text: string }>> = {
  '500 tenants under a wildcard': {
    zone: 'app.test',
    text: withSoa('www A 192.0.2.2\n*.tenants A 192.0.2.3'),
  },
  'a blocklist with 50 % NXDOMAIN': { zone: 'bl.test', text: withSoa(wildcardsOf(128)) },
  'a crowd through two public resolvers': {
    zone: 'event.test',
    text: withSoa(Array.from({ length: 200 }, (_, n) => `h${n} A 192.0.2.${n}`).join('\n')),
  },
};

async function startServer(zone: string, text: string): Promise<Target> {
  const server = noNsd
    ? await serveZones([new ZoneData(text, zone)], '127.0.0.1', 0)
    : await startNsd(zone, text);
  atEnd(() => server.stop());
  return server;
}

/** Starts a guard with what a simulated guard learned in an hour of monitoring and an hour of the enabled rule. */
async function startLearned(world: World, server: Target): Promise<GuardSetup> {
  const combination = SENSITIVITIES;
  if (combination === undefined) throw new Error('no combination is medium');
  const simulation = new Simulation({ world, combination, startMs: Date.now() - 2 * HOUR * 1000 });
  simulation.run(HOUR);
  const learned = simulation.detector.learned(simulation.nowMs);
  const entries = [...simulation.detector.profile.entries()];
  const profileStore: ProfileStore = {
    load: () => ({ learned, entries }),
    save: async () => {},
    saveLearned: async () => {},
  };
  const started = await startGuarded(combination, { servers: [server], seed: false, profileStore });
  seedZones(started.guard.detector, world.seeds);
  started.guard.detector.setZonePolicies(policiesFor(world), Date.now());
  started.guard.detector.setUpstreamsHealthy(true, Date.now());
  return started;
}

/** Returns queries of the world's zone, in the proportions of its flows. */
function queriesOf({ flows, zone }: World, count: number): Buffer[] {
  const random = new Random(7);
  const own = flows.filter((flow) => flow.zone === zone).map((flow) => ({ flow, source: flow.names() }));
  const rateOf = (flow: Flow): number => flow.perSecond(HOUR);
  const sum = own.reduce((total, { flow }) => total + rateOf(flow), 0);
  return Array.from({ length: count }, (_, id) => {
    let lot = random.next() * sum;
    const found =
      own.find(({ flow }) => {
        lot -= rateOf(flow);
        return lot < 0;
      }) ?? own[0];
    if (found === undefined) throw new Error('the zone has no flow');
    // Names that the simulation did not use, for flows of new names.
    const number = found.source.next(random, HOUR) + (found.source.isNew ? 1_000_000_000 : 0);
    return query(found.source.text(number), found.flow.type, id);
  });
}

/** Sends honest queries, and returns how many of them the guard dropped. Over UDP, lost packets also lack an answer. */
async function droppedOf({ guard, target }: GuardSetup, queries: readonly Buffer[]): Promise<number> {
  const client = await openUdpClient('127.0.5.1');
  // After this answer, the guard has decided all queries that were sent before.
  await client.ask(query(`h0.${OTHER_ZONE}`), target);
  const dropped = (): number =>
    guard.detector.verdicts
      .slice(FIRST_NOT_FORWARDED, FIRST_TRUNCATION)
      .reduce((sum, count) => sum + count, 0);
  const before = dropped();
  for (let from = 0; from < queries.length; from += BATCH) {
    const batch = queries.slice(from, from + BATCH);
    client.answers.clear();
    for (const packet of batch) client.send(packet, target);
    await client.wait(() => client.answers.size === batch.length, ANSWERS_MS);
  }
  return dropped() - before;
}

describe.each(Object.entries(served).map(([name, zone]) => ({ name, ...zone })))(
  '$name',
  ({ name, zone, text }) => {
    const world = worlds.find((one) => one.name === name);
    if (world === undefined) throw new Error(`no world is named ${name}`);

    it('is not limited over UDP', async () => {
      const started = await startLearned(world, await startServer(zone, text));
      expect(await droppedOf(started, queriesOf(world, HONEST))).toBeLessThanOrEqual(HONEST * MOST_LIMITED);
    });

    it('is not limited over UDP after a flood of another zone', async () => {
      const started = await startLearned(world, await startServer(zone, text));
      const attacker = await openUdpClient('127.0.6.1');
      for (let n = 0; n < FLOOD; n++) {
        attacker.send(query(`r${n}.${OTHER_ZONE}`, QueryType.A, n % 65_536), started.target);
        if (n % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await droppedOf(started, queriesOf(world, HONEST))).toBeLessThanOrEqual(HONEST * MOST_LIMITED);
    });
  },
);
