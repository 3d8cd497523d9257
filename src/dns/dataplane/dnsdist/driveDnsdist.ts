/** Drives dnsdist: rules to its console, names to its file, and what it sees by dnstap to the detector. */
import { join } from 'node:path';
import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import type { Place } from '../../../rules/index.ts';
import { QueryStats, type QueryStatsStore } from '../../analytics/index.ts';
import { followRules, keepMinutes, type RuleSource, remember, storedKey } from '../../controller/index.ts';
import { AttackDetector, type DetectorOptions, type ProfileStore, reasonOf } from '../../detector/index.ts';
import {
  HEADER_BYTES,
  isTransfer,
  nameToText,
  nameToWire,
  negativeZone,
  networkHash,
  Question,
  ReadResult,
  rcodeOf,
  readQuery,
  readQuestionSection,
} from '../../protocol/index.ts';
import { seedZones, type ZoneSeeding, type ZoneSource } from '../../zones/index.ts';
import { type GuardLog, PacketFaults } from '../embedded/index.ts';
import { BusyNames } from './busyNames.ts';
import { compileRules, type DnsdistState, MAX_TYPE_COMBINATIONS, RULE_NAMES } from './compileRules.ts';
import { DnsdistConsole } from './console.ts';
import { DnstapServer, type TapFrame } from './dnstap.ts';
import { KnownNames } from './knownNames.ts';
import { DnsdistNode } from './node.ts';

export interface DnsdistOptions {
  readonly place: Place;
  readonly rules: RuleSource;
  /** The consoles of the nodes, and the key that they share (base64, as dnsdist's setKey takes it). */
  readonly consoles: readonly ServerAddress[];
  readonly key: string;
  /** Where dnsdist sends dnstap: it has to be in its configuration. */
  readonly dnstap: ServerAddress;
  /** The folder in which the names are published; dnsdist must be able to read it. */
  readonly folder: string;
  readonly zones?: readonly ZoneSource[];
  /** Networks and addresses that may transfer zones, over TCP; nobody where left out. */
  readonly transfersAllow?: readonly Network[];
  readonly detector?: Partial<DetectorOptions>;
  readonly profileStore?: ProfileStore;
  readonly queryStatsStore?: QueryStatsStore;
  readonly log?: GuardLog;
}

export interface DnsdistGuard {
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  /** How far the zones are whose names are known from the start. */
  readonly seeding: ZoneSeeding;
  /** Names that dnsdist is told of. */
  knownNames(): number;
  /** The nodes, whether each has what is wanted of it, and how often telling it failed. */
  nodes(): readonly Pick<DnsdistNode, 'console' | 'inForce' | 'failures'>[];
  /** Frames of dnstap whose handling failed by a fault of ours. */
  faults(): number;
  /** Whether every node has the rules that are wanted now. */
  hasRules(): boolean;
  /** What dnsdist's rules matched since they were last changed, over all nodes, by reason. */
  matches(): Promise<Record<keyof typeof RULE_NAMES, number>>;
  stop(): Promise<void>;
}

const TICK_MS = 1000;
/** While a zone is read its names come by the thousand, and each time the whole file is written. */
const PUBLISH_WHILE_SEEDING_MS = 10_000;
/** Names that were forgotten leave the file once an hour: looking at each costs a while. */
const FORGET_EVERY_TICKS = 3600;
const QUIET: GuardLog = { info() {}, warn() {} };
const FAULT = 'a frame of dnstap could not be handled, by a fault of Floodgate: please report it';

/** Rejects where dnstap cannot listen or the rules cannot be read. A node that is away gets everything when it is back. */
export async function driveDnsdist(options: DnsdistOptions): Promise<DnsdistGuard> {
  const { log = QUIET, transfersAllow = [] } = options;
  const detector = new AttackDetector(storedKey(options.profileStore), options.detector, Date.now());
  const saveAtEnd = remember(detector, options.profileStore, log);
  const stats = new QueryStats(detector, Date.now());
  const known = new KnownNames(detector, join(options.folder, 'known.cdb'));
  const zones = options.zones ?? [];
  const seeding = seedZones(zones, detector, log, {
    onName: (owner) => known.add(owner),
    onSeeded: () => applySoon(),
  });
  await known.load(Date.now());
  // What an earlier run published of a zone is what dnsdist refuses by already: it holds until the zone is read again.
  const publishedZones = new Set(
    zones
      .map(({ name }) => nameToWire(name))
      .filter((name) => known.has(name))
      .map((name) => nameToText(name)),
  );
  const busy = new BusyNames();
  const nodes = options.consoles.map(
    (address) => new DnsdistNode(new DnsdistConsole(address, options.key), log),
  );
  const faults = new PacketFaults((fault) => log.warn({ fault }, FAULT));
  const tap = new DnstapServer((tapped) => learnFrom(tapped, detector, known, busy), faults);
  await tap.listen(options.dnstap.host, options.dnstap.port);
  const unseeded = (): string[] =>
    detector.zones
      .all()
      .filter((zone) => zone.awaitsNames && !publishedZones.has(zone.name))
      .map(({ name }) => name);
  // A zone counts as unseeded until a file with its names was written, not only until they are known here.
  let unseededZones = unseeded();
  const wanted = (): string =>
    compileRules({ ...stateOf(detector, known, busy, Date.now()), transfersAllow, unseededZones });
  let failing = '';
  let publishing: Promise<void> = Promise.resolve();
  let publishedMs = Number.NEGATIVE_INFINITY;
  const publish = async (): Promise<void> => {
    if (!mayPublish(detector, known)) return;
    const unseededNow = unseeded();
    const isSoon = performance.now() - publishedMs < PUBLISH_WHILE_SEEDING_MS;
    if (isSoon && seeding.busy && unseededNow.length === unseededZones.length) return;
    publishedMs = performance.now();
    const reason = await known.publish().then(() => '', String);
    if (reason === '') unseededZones = unseededNow;
    if (reason !== '' && reason !== failing)
      log.warn({ reason }, 'the names cannot be written: dnsdist goes on with the last ones');
    failing = reason;
  };
  // Names first: a rule never stands before the file that it looks into.
  const applySoon = (): void => {
    publishing = publishing.then(publish).then(() => {
      for (const node of nodes) node.want(wanted());
    });
  };
  const stopRules = await followRules(options.rules, options.place, detector, stats, log, applySoon);
  applySoon();
  seeding.start();
  let ticks = 0;
  const timer = setInterval(() => {
    detector.tick(Date.now());
    void keepMinutes(stats.tick(Date.now()), options.queryStatsStore, log);
    if (++ticks % FORGET_EVERY_TICKS === 0) known.forget();
    applySoon();
  }, TICK_MS);
  return {
    detector,
    stats,
    seeding,
    knownNames: () => known.size,
    nodes: () => nodes,
    faults: () => faults.count,
    hasRules: () => unseededZones.length === unseeded().length && nodes.every((node) => node.has(wanted())),
    matches: () => readMatches(nodes.map(({ console }) => console)),
    async stop() {
      clearInterval(timer);
      stopRules();
      seeding.stop();
      await publishing;
      await Promise.all(nodes.map((node) => node.settled()));
      for (const node of nodes) node.console.close();
      await tap.close();
      await keepMinutes(stats.flush(Date.now()), options.queryStatsStore, log);
      await saveAtEnd();
    },
  };
}

/**
 * Names that are published are what dnsdist refuses by: not the first few of them, neither of a guard that has just begun
 * to learn, nor where the file is gone and the profile knows names only by their hashes. What was published is kept up.
 */
const mayPublish = ({ ready, profile }: AttackDetector, known: KnownNames): boolean =>
  known.published !== undefined || (ready && known.size * 2 >= profile.size);

function stateOf(
  detector: AttackDetector,
  known: KnownNames,
  busy: BusyNames,
  nowMs: number,
): Omit<DnsdistState, 'transfersAllow' | 'unseededZones'> {
  const zones = detector.zones.all();
  return {
    rule: detector.rule,
    knownNames: known.published,
    typeCombinations: known.typeCombinations(MAX_TYPE_COMBINATIONS),
    busyNames: busy.names(nowMs),
    refuseWith: detector.options.refuseWith,
    bucket: detector.bucketSize(),
    attackedZones: zones.filter((zone) => !zone.byRate && zone.attacked(nowMs)).map(({ name }) => name),
    zonesByRate: zones
      .filter((zone) => zone.byRate && zone.name !== '')
      .map(({ name, bucket: { ratePerSecond, burst } }) => ({ name, ratePerSecond, burst })),
  };
}

const question = new Question();

function learnFrom(
  { isAnswer, overUdp, client, message }: TapFrame,
  detector: AttackDetector,
  known: KnownNames,
  busy: BusyNames,
): void {
  const nowMs = Date.now();
  if (!isAnswer) {
    if (!overUdp || readQuery(message, message.length, detector.key, question) !== ReadResult.ok) return;
    const verdict = detector.decide(question, nowMs);
    if (reasonOf(verdict) === 'aboveUsual')
      busy.note(message.subarray(HEADER_BYTES, question.end - 4), nowMs);
    return;
  }
  if (readQuestionSection(message, message.length, detector.key, question) !== ReadResult.ok) return;
  // A transfer says nothing of what clients ask for.
  if (isTransfer(question.type)) return;
  if (detector.zones.find(question) === detector.zones.outside) {
    const zone = negativeZone(message, question.end);
    if (zone !== undefined) detector.zones.addWire(zone);
  }
  detector.learn(question, rcodeOf(message), networkHash(addressText(client)), nowMs);
  if (detector.profile.find(question.hashHigh, question.hashLow) >= 0)
    known.add(message.subarray(HEADER_BYTES, question.end - 4));
}

const addressText = (bytes: Uint8Array): string =>
  bytes.length === 4
    ? bytes.join('.')
    : Buffer.from(bytes)
        .toString('hex')
        .replace(/(.{4})(?=.)/g, '$1:');

/** `showRules` prints a line a rule: its number, name, matches, and what it says. */
async function readMatches(
  nodes: readonly DnsdistConsole[],
): Promise<Record<keyof typeof RULE_NAMES, number>> {
  const matches = { unknownName: 0, unknownNameOrType: 0, zoneRate: 0 };
  for (const node of nodes) {
    const table = await node.run('showRules()');
    for (const [reason, name] of Object.entries(RULE_NAMES) as [keyof typeof RULE_NAMES, string][])
      for (const line of table.split('\n'))
        if (line.includes(name)) matches[reason] += Number(/^\d+\s+\S+\s+(\d+)/.exec(line)?.[1] ?? 0);
  }
  return matches;
}
