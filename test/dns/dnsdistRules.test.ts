/** The simulated dnsdist of the honest worlds decides as the real one does. */
import { expect, it } from 'vitest';
import {
  compileRules,
  DeepestZones,
  DnsdistConsole,
  type DnsdistState,
  type ZoneGroup,
} from '../../src/dns/dataplane/dnsdist/index.ts';
import { NO_LISTS, profileLevel } from '../../src/dns/detector/index.ts';
import { networkHash, QueryType, questionOf } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient } from './support/clients.ts';
import { query, type Target, type UdpClient } from './support/dnsClient.ts';
import { startDnsdistGuard, waitUntilInForce } from './support/dnsdistInFront.ts';
import { type DnsdistOutcomes, DnsdistRules, type Queries } from './support/dnsdistRules.ts';
import { RULE, ZONE_NAME } from './support/guardInFront.ts';
import { noDnsdist } from './support/realDnsdist.ts';

const LISTED_TYPES = 'A AAAA HTTPS NS';
const KNOWN_CLIENT = '127.0.1.1';
const OTHER_CLIENT = '127.0.2.1';
const PROBE_CLIENT = '127.0.3.1';
/** Fewer queries than the socket of the server stores. */
const BATCH = 50;
const LEARNED_NAMES = 20;
const HOUR_MS = 3_600_000;
/** Number of queries of 400: buckets gain tokens while the queries are sent. */
const TOLERANCE = 5;
const learnedName = (n: number): string => `l${n}.${ZONE_NAME}`;

const group = (more: Partial<ZoneGroup> = {}): ZoneGroup => ({
  key: '',
  mode: 'enabled',
  level: profileLevel.medium,
  limit: undefined,
  ...more,
});
/** Buckets of one token per second: a test is shorter than the burst. */
const size = (burst: number) => ({ ratePerSecond: 1, burst });
const STATE: DnsdistState = {
  zones: new DeepestZones([]),
  accessLists: NO_LISTS,
  clientRatePerSecond: 0,
  groups: [group()],
  policies: [],
  typeCombinations: [],
  busyNames: [],
  limitAction: 'drop',
  bucket: size(30),
  calmBucket: size(60),
  attackedZones: [],
  alarm: { zones: [], perSecond: 0 },
  unseededZones: [],
  zonesByRate: [],
  ceiling: size(1000),
};
const byRate = (of: { readonly unknown: number; readonly learned: number }) => ({
  zonesByRate: [
    { name: ZONE_NAME, group: '', limits: { unknown: size(of.unknown), learned: size(of.learned) } },
  ],
});

const states: Readonly<Record<string, Partial<DnsdistState>>> = {
  'no attack': {},
  'an attack': { attackedZones: [ZONE_NAME] },
  'an attack at low': { groups: [group({ level: profileLevel.low })], attackedZones: [ZONE_NAME] },
  'an attack on the deepest of three zones, and on names outside of them': {
    zones: new DeepestZones(['', 'test', ZONE_NAME]),
    attackedZones: ['', ZONE_NAME],
  },
  'an attack on the zone above': {
    zones: new DeepestZones(['', 'test', ZONE_NAME]),
    attackedZones: ['test'],
  },
  'the alarm at low': {
    groups: [group({ level: profileLevel.low })],
    alarm: { zones: [ZONE_NAME], perSecond: 25 },
  },
  monitoring: { groups: [group({ mode: 'monitoring' })] },
  'a busy name at very_high': {
    groups: [group({ level: profileLevel.very_high })],
    busyNames: [`www.${ZONE_NAME}`],
    bucket: size(10),
    calmBucket: size(20),
  },
  'a zone limited by rate': byRate({ unknown: 40, learned: 25 }),
  'a zone limited by rate, above the ceiling': { ...byRate({ unknown: 90, learned: 90 }), ceiling: size(50) },
  'a zone limited by the rate of its policy': {
    policies: [{ zone: ZONE_NAME, group: 'own' }],
    groups: [group(), group({ key: 'own', limit: size(50) })],
    zonesByRate: [{ name: ZONE_NAME, group: 'own', limits: undefined }],
  },
  'a limit of clients': { clientRatePerSecond: 1 },
};

/** A query, and its properties that the files of Floodgate contain. */
interface Sent {
  readonly packet: Buffer;
  readonly queries: Queries;
}

/** Mixes queries for unknown, learned and listed names, from a known network and another one. */
function mixed(round: number): Sent[] {
  return Array.from({ length: 400 }, (_, n) => {
    const kind = (['unknown', 'unknown', 'learned', 'listed'] as const)[n % 4] ?? 'unknown';
    const names = {
      unknown: `u${round}-${n}.${ZONE_NAME}`,
      learned: learnedName(n % LEARNED_NAMES),
      listed: n % 8 === 3 ? `www.${ZONE_NAME}` : `h${n % 200}.${ZONE_NAME}`,
    };
    const isKnownNetwork = n % 5 < 2;
    return {
      packet: query(names[kind], QueryType.A, n + 1),
      queries: {
        name: names[kind],
        type: QueryType.A,
        count: 1,
        isKnownNetwork,
        client: isKnownNetwork ? KNOWN_CLIENT : OTHER_CLIENT,
        knownTypes: kind === 'unknown' ? undefined : LISTED_TYPES,
        isLearned: kind === 'learned',
      },
    };
  });
}

/** Sends the queries in their order, and returns how dnsdist decided them. Calls `onBatch` before sending each batch. */
async function sendAll(
  all: readonly Sent[],
  { clients, target }: { readonly clients: ReadonlyMap<string, UdpClient>; readonly target: Target },
  onBatch: (batch: readonly Sent[]) => void,
): Promise<DnsdistOutcomes> {
  for (const client of clients.values()) client.answers.clear();
  const probe = clients.get(PROBE_CLIENT);
  const answers = () => [...clients.values()].flatMap((client) => [...client.answers.values()]);
  for (let from = 0; from < all.length; from += BATCH) {
    const batch = all.slice(from, from + BATCH);
    onBatch(batch);
    for (const { packet, queries } of batch) clients.get(queries.client)?.send(packet, target);
    let last = -1;
    await until('all answers', async () => {
      const before = last;
      // dnsdist answers this query after all that were sent before.
      await probe?.ask(query(`h1.${ZONE_NAME}`, QueryType.A, 0), target);
      last = answers().length;
      return last === before;
    });
  }
  const counted = answers().filter(({ id }) => id !== 0);
  const truncated = counted.filter((answer) => answer.truncated).length;
  const forwarded = counted.length - truncated;
  return { forwarded, truncated, dropped: all.length - counted.length };
}

const sumOf = (outcomes: readonly DnsdistOutcomes[], key: keyof DnsdistOutcomes): number =>
  outcomes.reduce((total, one) => total + one[key], 0);

/** Starts a dnsdist that has the files of known and learned names and networks, and whose rules no guard changes. */
async function startWithFiles(clients: ReadonlyMap<string, UdpClient>) {
  const { guard, dnsdist, rules } = await startDnsdistGuard({ ...RULE, mode: 'monitoring' });
  const { detector } = guard;
  const nowMs = Date.now();
  for (let n = 0; n < LEARNED_NAMES; n++)
    detector.profile.readmit(questionOf(learnedName(n), QueryType.A, detector.key), 0xffff);
  for (const atMs of [nowMs - 2 * HOUR_MS, nowMs]) detector.clients.note(networkHash(KNOWN_CLIENT), atMs);
  await waitUntilInForce(guard, rules);
  const control = new DnsdistConsole(dnsdist.console, dnsdist.key);
  atEnd(() => control.close());
  const lastName = learnedName(LEARNED_NAMES - 1);
  const client = clients.get(KNOWN_CLIENT);
  await until('dnsdist to have loaded the files with the learned names and the known network', async () => {
    for (let n = 0; n < LEARNED_NAMES; n++) await client?.ask(query(learnedName(n)), dnsdist);
    const known = (store: string, key: string) => control.run(`return #${store}:lookup(${key})`);
    const name = `newDNSName("${lastName}")`;
    const found = await Promise.all([
      known('floodgateKnown', name),
      known('floodgateLearned', name),
      known('floodgateNetworks', '"\\127\\000\\001\\000"'),
    ]);
    return found.map((length) => length.trim()).join() === '4,4,1';
  });
  await guard.stop();
  return { dnsdist, control };
}

it('the simulated dnsdist passes, truncates and drops as many queries as the real one', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const clients = new Map<string, UdpClient>();
  for (const address of [KNOWN_CLIENT, OTHER_CLIENT, PROBE_CLIENT])
    clients.set(address, await openUdpClient(address));
  const { dnsdist, control } = await startWithFiles(clients);
  const simulated = new DnsdistRules();
  for (const [index, [name, state]] of Object.entries(states).entries()) {
    const data = compileRules({ ...STATE, ...state });
    const lines = data.trimEnd().split('\n');
    expect(await control.run(`floodgateApply({},"${lines.join('\\n')}",nil)`), name).toBe('');
    simulated.install(data);
    const all = mixed(index);
    const expected: DnsdistOutcomes[] = [];
    const real = await sendAll(all, { clients, target: dnsdist }, (batch) => {
      const period = { startMs: Date.now(), seconds: 0 };
      for (const { queries } of batch) expected.push(...simulated.decide([queries], period));
    });
    for (const key of ['forwarded', 'truncated', 'dropped'] as const) {
      const difference = Math.abs(real[key] - sumOf(expected, key));
      expect(difference, JSON.stringify({ name, key, real, of: sumOf(expected, key) })).toBeLessThan(
        TOLERANCE,
      );
    }
  }
});
