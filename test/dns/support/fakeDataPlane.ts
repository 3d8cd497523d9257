/**
 * The smallest possible data plane, a fake that answers from a zone in memory. docs/internals/adding-a-data-plane.md refers to
 * it.
 */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { respond, ZoneData } from '../../../src/dns/authority/index.ts';
import type { DataPlane, DataPlaneContext } from '../../../src/dns/dataplane/index.ts';
import {
  FIRST_LIMITED,
  FIRST_NOT_FORWARDED,
  LimitedSamples,
  UserEnd,
  userEndOf,
} from '../../../src/dns/detector/index.ts';
import { Question, ReadResult, readAnswer, readQuery } from '../../../src/dns/protocol/index.ts';
import { ZONE_NAME, ZONE_TEXT } from './guardInFront.ts';

const HOST = '127.0.0.1';

export class FakeDataPlane implements DataPlane {
  readonly #detector: DataPlaneContext['detector'];
  readonly #socket = createSocket('udp4');
  readonly #zone = new ZoneData(ZONE_TEXT, ZONE_NAME);
  readonly #question = new Question();
  readonly #samples = new LimitedSamples();
  #isListening = false;

  constructor({ detector }: DataPlaneContext) {
    this.#detector = detector;
  }

  get addresses() {
    return this.#isListening ? [{ host: HOST, port: this.#socket.address().port }] : [];
  }

  async start(): Promise<void> {
    this.#socket.on('message', (packet, client) => this.#receive(packet, client));
    this.#socket.bind(0, HOST);
    await once(this.#socket, 'listening');
    this.#isListening = true;
  }

  policyChanged(): void {}
  tick(): void {}
  notReadyReason(): undefined {}

  /** The zone is in memory, so its answers are always in time. */
  upstreamsHealthy(): boolean {
    return true;
  }

  takeSamples() {
    const batch = this.#samples.take();
    return batch === undefined ? [] : [batch];
  }

  registerMetrics(): void {}

  async stop(): Promise<void> {
    this.#isListening = false;
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  #receive(packet: Buffer, { address, port }: RemoteInfo): void {
    const { key } = this.#detector;
    if (readQuery(packet, key, this.#question) !== ReadResult.ok) return;
    const verdict = this.#detector.decide(this.#question, Date.now(), address);
    if (verdict >= FIRST_LIMITED) this.#samples.note(packet, this.#question.end, address);
    const { userZone } = this.#detector;
    if (verdict >= FIRST_NOT_FORWARDED) return this.#detector.countUser(userZone, UserEnd.limited);
    const answer = respond([this.#zone], packet, false);
    if (answer === undefined || !readAnswer(answer, key, this.#question)) return;
    this.#detector.learnAnswer(answer, this.#question, address, Date.now());
    this.#socket.send(answer, port, address);
    this.#detector.countUser(userZone, userEndOf(answer));
  }
}
