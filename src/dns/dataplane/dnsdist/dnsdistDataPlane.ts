/**
 * Data plane in which dnsdist serves DNS: sends rules to the console of dnsdist, publishes known names in a file, and
 * passes the queries and answers of dnstap frames to the attack detector.
 */

import { join } from 'node:path';
import type { Registry } from 'prom-client';
import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import { inBackground } from '../../../platform/background/index.ts';
import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import {
  FIRST_LIMITED,
  FIRST_NOT_FORWARDED,
  LimitedSamples,
  reasonOf,
  type SampleBatch,
  UserEnd,
  type Verdict,
  verdictOf,
} from '../../detector/index.ts';
import {
  HEADER_BYTES,
  nameToWire,
  Question,
  ReadResult,
  readAnswer,
  readQuery,
} from '../../protocol/index.ts';
import {
  type DataPlane,
  type DataPlaneContext,
  PacketFaults,
  PendingTimes,
  PendingUserQueries,
  ResponseTimes,
  UpstreamHealth,
} from '../index.ts';
import { BusyNames } from './busyNames.ts';
import { commandOf, compileRules, MAX_TYPE_COMBINATIONS } from './compileRules.ts';
import { DnsdistConsole } from './console.ts';
import { dnsdistStateOf } from './detectorState.ts';
import { DnstapServer, type TapFrame } from './dnstap.ts';
import { KnownNames } from './lookupFiles/knownNames.ts';
import { addressText, KnownNetworks } from './lookupFiles/knownNetworks.ts';
import { registerDnsdistMetrics } from './metrics.ts';
import { DnsdistNode } from './node.ts';
import { RulesFile } from './rulesFile.ts';
import { NETWORKS_FILE, RULES_FILE } from './rulesLoader.ts';
import { DnsdistVerdicts } from './verdicts.ts';

export interface DnsdistOptions {
  /** Addresses of the consoles of the dnsdist nodes. */
  readonly consoles: readonly ServerAddress[];
  /** Console key of all nodes, in base64, as for setKey() in dnsdist. */
  readonly key: string;
  /** Address on which Floodgate receives dnstap. The configuration of dnsdist must contain the same address. */
  readonly dnstap: ServerAddress;
  /** Folder for the files with known names and rules. dnsdist must be able to read them. */
  readonly folder: string;
  /** Networks whose clients may transfer zones (AXFR, IXFR), over TCP only. Default: none. */
  readonly transfersAllow?: readonly Network[];
}

/** During seeding, minimum time between two writes of the names file, because each write replaces the whole file. */
const PUBLISH_WHILE_SEEDING_MS = 10_000;
/** Interval, in seconds, of the check for names and networks that have expired in the detector. The check is slow. */
const FORGET_EVERY_TICKS = 3600;
/** Time after which a user's query counts as unanswered: longer than the default UDP timeout of dnsdist (2 s). */
const USER_WAIT_MS = 3000;
/** Maximum number of users' queries that wait for an answer (6 MB): 10,000 per second if no server answers. */
const MAX_WAITING_USERS = 32_768;
const PASSED = verdictOf('passed', 'none');
const FAULT = 'dnstap frame dropped because of a bug in Floodgate; please report it';

/** Controls any number of dnsdist nodes. A node that was unreachable gets all rules when it is reachable again. */
export class DnsdistDataPlane implements DataPlane {
  /** Empty, because dnsdist serves DNS, on addresses of its own configuration. */
  readonly addresses = [];
  readonly #options: DnsdistOptions;
  readonly #context: DataPlaneContext;
  readonly #known: KnownNames;
  readonly #networks: KnownNetworks;
  readonly #busy = new BusyNames();
  readonly #rulesFile: RulesFile;
  readonly #nodes: readonly DnsdistNode[];
  readonly #verdicts: DnsdistVerdicts;
  readonly #faults: PacketFaults;
  readonly #tap: DnstapServer;
  readonly #question = new Question();
  readonly #samples = new LimitedSamples();
  readonly #users: PendingUserQueries;
  readonly #responseTimes = new ResponseTimes();
  readonly #upstreamHealth: UpstreamHealth;
  readonly #publishing = new SerialQueue();
  #isStarted = false;
  /** Zones whose names were in the names file at the start. dnsdist has these names, so the zones count as seeded. */
  #publishedZones: ReadonlySet<string> = new Set();
  /** Zones whose seeding is not complete. A zone is removed from the list when the names file contains its names. */
  #unseededZones: readonly string[] = [];
  #publishedMs = Number.NEGATIVE_INFINITY;
  /** Error of the last attempt to write the files with names and rules. Empty if the attempt succeeded. */
  #failure = '';
  #sawAttack = false;
  #ticks = 0;

  constructor(options: DnsdistOptions, context: DataPlaneContext) {
    const { detector, log } = context;
    this.#options = options;
    this.#context = context;
    this.#known = new KnownNames(detector, options.folder);
    this.#networks = new KnownNetworks(detector, join(options.folder, NETWORKS_FILE));
    this.#rulesFile = new RulesFile(join(options.folder, RULES_FILE));
    this.#nodes = options.consoles.map(
      (address) => new DnsdistNode(new DnsdistConsole(address, options.key), log),
    );
    this.#verdicts = new DnsdistVerdicts(this.#nodes.map(({ console }) => console));
    this.#users = new PendingUserQueries(MAX_WAITING_USERS, (zone, end) => detector.countUser(zone, end));
    this.#faults = new PacketFaults((fault) => log.warn({ fault }, FAULT));
    this.#upstreamHealth = new UpstreamHealth(this.#responseTimes, log);
    const onConnection = (): PendingTimes => new PendingTimes(this.#responseTimes);
    const onFrame = (frame: TapFrame, pending: PendingTimes): void => this.#learnFrom(frame, pending);
    this.#tap = new DnstapServer({ onConnection, onFrame }, this.#faults);
  }

  knownNames(): number {
    return this.#known.size;
  }

  nodes(): readonly Pick<DnsdistNode, 'console' | 'inForce' | 'failures' | 'serversUp'>[] {
    return this.#nodes;
  }

  /** Returns the number of dnstap frames that were dropped because of an exception, i.e. a bug in Floodgate. */
  faults(): number {
    return this.#faults.count;
  }

  hasRules(): boolean {
    const wanted = this.#wanted();
    return (
      this.#unseededZones.length === this.#unseeded().length &&
      this.#nodes.every((node) => node.hasApplied(wanted))
    );
  }

  /** Returns the number of queries by verdict on all nodes, from counters of dnsdist, as of the last `count`. */
  verdicts(): Float64Array {
    return this.#verdicts.total;
  }

  /** Reads the counters of all dnsdist nodes. Those of an unreachable node are added when it is reachable again. */
  count(): Promise<void> {
    return this.#verdicts.read();
  }

  /** Loads the names file and listens for dnstap. Rejects if the dnstap address cannot be bound. */
  async start(): Promise<void> {
    await this.#known.load();
    await this.#networks.load(Date.now());
    const { zones } = this.#context.detector;
    const published = zones.all().filter((zone) => this.#known.has(nameToWire(zone.name)));
    this.#publishedZones = new Set(published.map(({ name }) => name));
    this.#unseededZones = this.#unseeded();
    const { host, port } = this.#options.dnstap;
    await this.#tap.listen(host, port);
    this.#isStarted = true;
    this.policyChanged();
  }

  /** Publishes the known names, and then sends the rules, because the rules refer to the file with the names. */
  policyChanged(): void {
    if (!this.#isStarted) return;
    inBackground('rules for dnsdist', () =>
      this.#publishing.run(async () => {
        await this.#publish();
        const wanted = this.#wanted();
        for (const node of this.#nodes) node.apply(wanted);
      }),
    );
  }

  nameSeeded(owner: Uint8Array): void {
    this.#known.add(owner);
  }

  namesForgotten(): void {
    this.#known.forget();
  }

  /** Sends changed rules: attacked zones, busy names and bucket sizes change without a call of `policyChanged`. */
  tick(nowMs: number): void {
    this.#users.expire(nowMs - USER_WAIT_MS);
    if (++this.#ticks % FORGET_EVERY_TICKS === 0) {
      this.#known.forget();
      this.#networks.forget(nowMs);
    }
    this.#sawAttack = this.#context.detector.attack;
    this.policyChanged();
    inBackground('counters of dnsdist', () => this.count());
    for (const node of this.#nodes) inBackground('servers of dnsdist', () => node.readServers());
  }

  /** A node without a server in use answers none of its clients, even if other nodes work. */
  upstreamsHealthy(nowMs: number): boolean {
    for (const pending of this.#tap.pending()) pending.expire(nowMs);
    const up = this.#nodes.flatMap(({ serversUp }) => serversUp ?? []);
    const hasServer = up.length === 0 ? undefined : up.every((servers) => servers > 0);
    return this.#upstreamHealth.update(nowMs, hasServer);
  }

  takeSamples(): readonly SampleBatch[] {
    const batch = this.#samples.take();
    return batch === undefined ? [] : [batch];
  }

  /**
   * Returns undefined, because dnsdist continues with its last rules if Floodgate cannot reach it. Metrics show the
   * status of each node.
   */
  notReadyReason(): undefined {}

  registerMetrics(registry: Registry): void {
    registerDnsdistMetrics(this, registry);
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    await this.#publishing.idle();
    await Promise.all(this.#nodes.map((node) => node.settled()));
    await this.count();
    for (const node of this.#nodes) node.console.close();
    await this.#tap.close();
  }

  async #publish(): Promise<void> {
    if (!this.#mayPublish()) return;
    const unseededNow = this.#unseeded();
    const isSoon = performance.now() - this.#publishedMs < PUBLISH_WHILE_SEEDING_MS;
    const namesWait =
      isSoon && this.#context.isSeeding() && unseededNow.length === this.#unseededZones.length;
    if (!namesWait) this.#publishedMs = performance.now();
    const failure = await (namesWait ? Promise.resolve() : this.#publishFiles())
      .then(() => this.#writeRules(namesWait ? this.#unseededZones : unseededNow))
      .then(() => '', String);
    if (failure !== '' && failure !== this.#failure)
      this.#context.log.warn(
        { reason: failure },
        'cannot write the known names; dnsdist keeps the last ones',
      );
    if (failure === '' && this.#failure !== '')
      this.#context.log.info({}, 'the known names are written again');
    this.#failure = failure;
  }

  async #publishFiles(): Promise<void> {
    await this.#networks.publish();
    await this.#known.publish();
  }

  /** Writes the rules file, if there is a names file: the rules refer to it. */
  async #writeRules(unseeded: readonly string[]): Promise<void> {
    this.#unseededZones = unseeded;
    if (this.#known.isPublished) await this.#rulesFile.write(this.#rules());
  }

  /**
   * Returns true if the known names may be published. dnsdist limits queries for names that are not in the file, so
   * the first file must contain most names. Names are missing early in the learning phase, and if the file was lost,
   * because the profile stores only hashes of names.
   */
  #mayPublish(): boolean {
    const { ready, profile } = this.#context.detector;
    return this.#known.isPublished || (ready && this.#known.size * 2 >= profile.size);
  }

  #unseeded(): readonly string[] {
    return this.#context.detector.zones
      .all()
      .filter((zone) => zone.awaitsNames && !this.#publishedZones.has(zone.name))
      .map(({ name }) => name);
  }

  #rules(): string {
    const typeCombinations = this.#known.typeCombinations(MAX_TYPE_COMBINATIONS);
    const nowMs = Date.now();
    const busyNames = this.#busy.names(nowMs);
    const unseededZones = this.#unseededZones;
    return compileRules(
      dnsdistStateOf(this.#context.detector, { typeCombinations, busyNames, unseededZones }, nowMs),
    );
  }

  #wanted(): string {
    const { transfersAllow = [], folder } = this.#options;
    return commandOf(this.#rules(), this.#known.isPublished ? folder : undefined, transfersAllow);
  }

  #learnFrom(frame: TapFrame, pending: PendingTimes): void {
    const { isAnswer, isCached, overUdp, client, clientPort, timeMs, message } = frame;
    const { detector } = this.#context;
    const question = this.#question;
    const nowMs = Date.now();
    pending.note(timeMs, nowMs);
    if (isAnswer) {
      if (!readAnswer(message, detector.key, question)) return;
      if (overUdp && isCached) pending.answeredFromCache(question, clientPort);
      else if (overUdp) pending.answered(question, clientPort, message, timeMs);
      if (!this.#users.isEmpty) this.#users.answered(keyOf(frame, question), message);
      detector.learnAnswer(message, question, addressText(client), nowMs, !overUdp);
      this.#networks.note(client, nowMs);
      if (detector.profile.find(question.hashHigh, question.hashLow) >= 0)
        this.#known.add(message.subarray(HEADER_BYTES, question.end - 4));
      return;
    }
    const result = readQuery(message, detector.key, question);
    // dnsdist forwards queries with a malformed option, so they count.
    if (result !== ReadResult.ok && result !== ReadResult.badOpt) return;
    if (!overUdp) return this.#noteUser(frame, this.#userZoneOverTcp());
    const address = addressText(client);
    const verdict = detector.decide(question, nowMs, address);
    this.#noteUser(frame, detector.userZone, verdict);
    // dnsdist may answer a limited query itself, which dnstap does not report.
    if (verdict === PASSED) pending.sent(question, clientPort, detector.userZone, timeMs);
    if (verdict >= FIRST_LIMITED) this.#samples.note(message, question.end, address);
    // If an attack has just begun, the rules are sent now instead of at the next tick.
    if (detector.attack && !this.#sawAttack) {
      this.#sawAttack = true;
      this.policyChanged();
    }
    if (reasonOf(verdict) === 'aboveUsual')
      this.#busy.note(message.subarray(HEADER_BYTES, question.end - 4), nowMs);
  }

  /**
   * Stores a user's query until its answer arrives. If the detector limited the query, it counts as limited only if
   * no answer follows, because dnsdist has its own token buckets and may have passed the query.
   */
  #noteUser(frame: TapFrame, userZone: number, verdict?: Verdict): void {
    // Outcomes of users' queries are reported only for attacks. Without an attack, no work is done for them.
    if (userZone === 0 || !this.#context.detector.attack) return;
    const isLimited = verdict !== undefined && verdict >= FIRST_NOT_FORWARDED;
    this.#users.add(keyOf(frame, this.#question), {
      userZone,
      sinceMs: Date.now(),
      unlessAnswered: isLimited ? UserEnd.limited : UserEnd.unanswered,
    });
  }

  /**
   * Returns the zone number of a TCP query plus 1 if its name is known, otherwise 0. No verdict is needed: over TCP,
   * dnsdist passes every query that no access list denies.
   */
  #userZoneOverTcp(): number {
    const { detector } = this.#context;
    const { hashHigh, hashLow } = this.#question;
    const isKnown = detector.profile.find(hashHigh, hashLow) >= 0;
    return isKnown ? detector.zoneIndex.find(this.#question) + 1 : 0;
  }
}

/** Returns a key that is the same for a query and its answer. */
const keyOf = ({ client, clientPort }: TapFrame, { id, hashHigh, hashLow, type }: Question): string =>
  `${addressText(client)} ${clientPort} ${id} ${hashHigh} ${hashLow} ${type}`;
