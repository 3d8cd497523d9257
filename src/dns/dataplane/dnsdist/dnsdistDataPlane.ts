/** The data plane that drives dnsdist: rules to its console, names to its file, and what it sees by dnstap to the detector. */
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import { FIRST_UNPAID, RefusedSamples, reasonOf, type SampleBatch } from '../../detector/index.ts';
import {
  HEADER_BYTES,
  nameToWire,
  Question,
  ReadResult,
  readAnswer,
  readQuery,
} from '../../protocol/index.ts';
import { type DataPlane, type DataPlaneContext, PacketFaults } from '../index.ts';
import { BusyNames } from './busyNames.ts';
import { commandOf, compileRules, MAX_TYPE_COMBINATIONS } from './compileRules.ts';
import { DnsdistConsole } from './console.ts';
import { DnstapServer, type TapFrame } from './dnstap.ts';
import { KnownNames } from './knownNames.ts';
import { registerDnsdistMetrics } from './metrics.ts';
import { DnsdistNode } from './node.ts';
import { RulesFile } from './rulesFile.ts';
import { NAMES_FILE, RULES_FILE } from './rulesLoader.ts';
import { stateOf } from './stateOf.ts';
import { DnsdistVerdicts } from './verdicts.ts';

export interface DnsdistOptions {
  /** The consoles of the nodes, and the key that they share (base64, as dnsdist's setKey takes it). */
  readonly consoles: readonly ServerAddress[];
  readonly key: string;
  /** Where dnsdist sends dnstap: it has to be in its configuration. */
  readonly dnstap: ServerAddress;
  /** The folder in which the names are published; dnsdist must be able to read it. */
  readonly folder: string;
  /** Networks and addresses that may transfer zones, over TCP; nobody where left out. */
  readonly transfersAllow?: readonly Network[];
}

/** While a zone is read its names come by the thousand, and each time the whole file is written. */
const PUBLISH_WHILE_SEEDING_MS = 10_000;
/** Names that were forgotten leave the file once an hour: looking at each costs a while. */
const FORGET_EVERY_TICKS = 3600;
const FAULT = 'a frame of dnstap could not be handled, by a fault of Floodgate: please report it';

/** A node that is away gets everything when it is back. */
export class DnsdistDataPlane implements DataPlane {
  /** dnsdist answers, at addresses of its own. */
  readonly addresses = [];
  readonly #options: DnsdistOptions;
  readonly #context: DataPlaneContext;
  readonly #known: KnownNames;
  readonly #busy = new BusyNames();
  readonly #rulesFile: RulesFile;
  readonly #nodes: readonly DnsdistNode[];
  readonly #verdicts: DnsdistVerdicts;
  readonly #faults: PacketFaults;
  readonly #tap: DnstapServer;
  readonly #question = new Question();
  readonly #samples = new RefusedSamples();
  readonly #publishing = new SerialQueue();
  #isStarted = false;
  /** What an earlier run published of a zone is what dnsdist refuses by already: it holds until the zone is read again. */
  #publishedZones: ReadonlySet<string> = new Set();
  /** A zone counts as unseeded until a file with its names was written, not only until they are known here. */
  #unseededZones: readonly string[] = [];
  #publishedMs = Number.NEGATIVE_INFINITY;
  /** Why the names could not be written the last time; empty where they were. */
  #failure = '';
  #sawAttack = false;
  #ticks = 0;

  constructor(options: DnsdistOptions, context: DataPlaneContext) {
    const { detector, log } = context;
    this.#options = options;
    this.#context = context;
    this.#known = new KnownNames(detector, join(options.folder, NAMES_FILE));
    this.#rulesFile = new RulesFile(join(options.folder, RULES_FILE));
    this.#nodes = options.consoles.map(
      (address) => new DnsdistNode(new DnsdistConsole(address, options.key), log),
    );
    this.#verdicts = new DnsdistVerdicts(this.#nodes.map(({ console }) => console));
    this.#faults = new PacketFaults((fault) => log.warn({ fault }, FAULT));
    this.#tap = new DnstapServer((frame) => this.#learnFrom(frame), this.#faults);
  }

  /** Names that dnsdist is told of. */
  knownNames(): number {
    return this.#known.size;
  }

  /** The nodes, whether each has what is wanted of it, and how often telling it failed. */
  nodes(): readonly Pick<DnsdistNode, 'console' | 'inForce' | 'failures'>[] {
    return this.#nodes;
  }

  /** Frames of dnstap whose handling failed by a fault of ours. */
  faults(): number {
    return this.#faults.count;
  }

  /** Whether every node has the rules that are wanted now. */
  hasRules(): boolean {
    const wanted = this.#wanted();
    return (
      this.#unseededZones.length === this.#unseeded().length && this.#nodes.every((node) => node.has(wanted))
    );
  }

  /** By dnsdist's own counters, over all nodes, as they were when they were read last. */
  verdicts(): Float64Array {
    return this.#verdicts.total;
  }

  /** Reads the counters now. A node that is away is counted when it is back. */
  count(): Promise<void> {
    return this.#verdicts.read();
  }

  /** Rejects where dnstap cannot listen. */
  async start(): Promise<void> {
    await this.#known.load();
    const { zones } = this.#context.detector;
    const published = zones.all().filter((zone) => this.#known.has(nameToWire(zone.name)));
    this.#publishedZones = new Set(published.map(({ name }) => name));
    this.#unseededZones = this.#unseeded();
    const { host, port } = this.#options.dnstap;
    await this.#tap.listen(host, port);
    this.#isStarted = true;
    this.policyChanged();
  }

  /** Names first: a rule never stands before the file that it looks into. */
  policyChanged(): void {
    if (!this.#isStarted) return;
    void this.#publishing.run(async () => {
      await this.#publish();
      const wanted = this.#wanted();
      for (const node of this.#nodes) node.want(wanted);
    });
  }

  nameSeeded(owner: Uint8Array): void {
    this.#known.add(owner);
  }

  /** Zones come under attack, names become busy, buckets are resized: what is wanted may be other than a second ago. */
  tick(): void {
    if (++this.#ticks % FORGET_EVERY_TICKS === 0) this.#known.forget();
    this.#sawAttack = this.#context.detector.attack;
    this.policyChanged();
    void this.count();
  }

  takeSamples(): readonly SampleBatch[] {
    const batch = this.#samples.take();
    return batch === undefined ? [] : [batch];
  }

  /** Each node's state is in the metrics; without Floodgate a node goes on with the last rules. */
  notReady(): undefined {}

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
    const failure = await (namesWait ? Promise.resolve() : this.#known.publish())
      .then(() => this.#writeRules(namesWait ? this.#unseededZones : unseededNow))
      .then(() => '', String);
    if (failure !== '' && failure !== this.#failure)
      this.#context.log.warn(
        { reason: failure },
        'the names cannot be written: dnsdist goes on with the last ones',
      );
    this.#failure = failure;
  }

  /** Behind the names that they are about; whole or not at all. */
  async #writeRules(unseeded: readonly string[]): Promise<void> {
    this.#unseededZones = unseeded;
    if (this.#known.published !== undefined) await this.#rulesFile.write(this.#rules());
  }

  /**
   * Names that are published are what dnsdist refuses by: not the first few of them, neither of a guard that has just begun
   * to learn, nor where the file is gone and the profile knows names only by their hashes. What was published is kept up.
   */
  #mayPublish(): boolean {
    const { ready, profile } = this.#context.detector;
    return this.#known.published !== undefined || (ready && this.#known.size * 2 >= profile.size);
  }

  #unseeded(): readonly string[] {
    return this.#context.detector.zones
      .all()
      .filter((zone) => zone.awaitsNames && !this.#publishedZones.has(zone.name))
      .map(({ name }) => name);
  }

  #rules(): string {
    const typeCombinations = this.#known.typeCombinations(MAX_TYPE_COMBINATIONS);
    const busyNames = this.#busy.names(Date.now());
    const unseededZones = this.#unseededZones;
    return compileRules(stateOf(this.#context.detector, { typeCombinations, busyNames, unseededZones }));
  }

  /** The command that puts everything in force. */
  #wanted(): string {
    const { transfersAllow = [] } = this.#options;
    return commandOf(this.#rules(), this.#known.published, transfersAllow);
  }

  #learnFrom({ isAnswer, overUdp, client, message }: TapFrame): void {
    const { detector } = this.#context;
    const question = this.#question;
    const nowMs = Date.now();
    if (isAnswer) {
      if (!readAnswer(message, detector.key, question)) return;
      detector.learnAnswer(message, question, addressText(client), nowMs, !overUdp);
      if (detector.profile.find(question.hashHigh, question.hashLow) >= 0)
        this.#known.add(message.subarray(HEADER_BYTES, question.end - 4));
      return;
    }
    if (!overUdp || readQuery(message, detector.key, question) !== ReadResult.ok) return;
    const address = addressText(client);
    const verdict = detector.decide(question, nowMs, address);
    if (verdict >= FIRST_UNPAID && detector.samplesRefusals)
      this.#samples.note(message, question.end, address);
    // What is an attack from now on is carried out now, not when the second is over.
    if (detector.attack && !this.#sawAttack) {
      this.#sawAttack = true;
      this.policyChanged();
    }
    if (reasonOf(verdict) === 'aboveUsual')
      this.#busy.note(message.subarray(HEADER_BYTES, question.end - 4), nowMs);
  }
}

const addressText = (bytes: Uint8Array): string =>
  bytes.length === 4
    ? bytes.join('.')
    : Buffer.from(bytes)
        .toString('hex')
        .replace(/(.{4})(?=.)/g, '$1:');
