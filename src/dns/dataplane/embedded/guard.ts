/** Starts the embedded data plane: listeners in front, servers behind, the detector between, the rules kept up to date. */

import { type Network, type ServerAddress, within } from '../../../platform/addresses/index.ts';
import type { Place } from '../../../rules/index.ts';
import { QueryStats, type QueryStatsStore } from '../../analytics/index.ts';
import { followRules, keepMinutes, type RuleSource, remember, storedKey } from '../../controller/index.ts';
import { AttackDetector, type DetectorOptions, type ProfileStore } from '../../detector/index.ts';
import {
  isResponse,
  isTransfer,
  negativeZone,
  networkHash,
  Question,
  ReadResult,
  rcodeOf,
  readQuestionSection,
  readResultNames,
} from '../../protocol/index.ts';
import { seedZones, type ZoneSeeding, type ZoneSource } from '../../zones/index.ts';
import { type Listener, listenAt } from './listener.ts';
import { PacketFaults } from './packetFaults.ts';
import { ServerLog } from './serverLog.ts';
import { cannotSharePort, threadsFor } from './sharePort.ts';
import { type OnTcpAnswer, TcpRelay } from './tcpRelay.ts';
import { type Plane, type ServerState, UdpPlane } from './udpPlane.ts';
import { UdpThreads } from './udpThreads.ts';

export interface GuardOptions {
  readonly place: Place;
  /** Where to listen, for UDP and TCP; port 0 takes one that is free for both. */
  readonly listen: readonly ServerAddress[];
  /** The authoritative servers behind, one at least. */
  readonly servers: readonly ServerAddress[];
  readonly rules: RuleSource;
  readonly detector?: Partial<DetectorOptions>;
  /** Zones whose names are read at the start, while DNS is answered already. */
  readonly zones?: readonly ZoneSource[];
  /** Where what is learned and counted is kept; nowhere where left out. */
  readonly profileStore?: ProfileStore;
  readonly queryStatsStore?: QueryStatsStore;
  /** How long a server may take to answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Threads that receive over UDP; 0 for as many as {@link threadsFor} finds good, one where left out. */
  readonly workers?: number;
  /** False passes everything that is a query, unjudged: what there is to compare with. */
  readonly guarded?: boolean;
  /** Networks and addresses that may transfer zones, over TCP; nobody where left out. */
  readonly transfersAllow?: readonly Network[];
  readonly log?: GuardLog;
}

export interface GuardLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface Guard {
  /** Where it listens, in the order of `listen`. */
  readonly addresses: readonly ServerAddress[];
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  /** How far the zones are whose names are known from the start. */
  readonly seeding: ZoneSeeding;
  readonly servers: readonly ServerState[];
  /** The threads that receive; none where this thread does. */
  readonly threads: UdpThreads['workers'];
  readonly tcp: Pick<TcpRelay, 'connections' | 'serverConnections' | 'counts'>;
  /** Packets read over UDP by what came of it (`ok`, or the fault). */
  packets(): Record<(typeof readResultNames)[number], number>;
  /** Answers that taught nothing, because the detector was too busy to hear of them. */
  unlearned(): number;
  /** Packets whose handling failed by a fault of the guard's own. */
  faults(): number;
  /** Stops listening and lets go of everything. */
  stop(): Promise<void>;
}

/** Longer than a healthy server ever takes, shorter than most resolvers' patience with all their attempts. */
export const DEFAULT_TIMEOUT_MS = 2000;
const TICK_MS = 1000;
const QUIET: GuardLog = { info() {}, warn() {} };

/** Rejects where a listen address cannot be bound or the rules cannot be read the first time. */
export async function startGuard(options: GuardOptions): Promise<Guard> {
  const log = options.log ?? QUIET;
  const mayTransfer = within(options.transfersAllow ?? []);
  const key = storedKey(options.profileStore);
  const detector = new AttackDetector(key, options.detector, Date.now());
  const saveAtEnd = remember(detector, options.profileStore, log);
  const stats = new QueryStats(detector, Date.now());
  const listeners: Listener[] = [];
  const tcpFaults = new PacketFaults(sayFault(log));
  const stopRules = await followRules(options.rules, options.place, detector, stats, log);
  const seeding = seedZones(options.zones ?? [], detector, log);
  const plane = await startPlane(options, detector, log).catch((error: unknown) => {
    stopRules();
    throw error;
  });
  const relay = new TcpRelay({
    servers: () => plane.inOrder(),
    onAnswer: learnOverTcp(detector, tcpFaults),
    mayTransfer,
    faults: tcpFaults,
  });
  const close = async (): Promise<void> => {
    stopRules();
    relay.close();
    await Promise.all([...listeners.map(closeTcp), plane.close()]);
  };
  try {
    for (const [frontend, address] of options.listen.entries())
      listeners.push(await listenAt(address, frontend, plane, relay, log));
  } catch (error) {
    await close();
    throw error;
  }
  // Behind everything that answers: neither a server nor a zone that is away keeps DNS waiting.
  seeding.start();
  const serverLog = new ServerLog(log);
  serverLog.note(plane.servers);
  const timer = setInterval(() => {
    const nowMs = Date.now();
    detector.tick(nowMs);
    plane.tick(nowMs);
    serverLog.note(plane.servers);
    void keepMinutes(stats.tick(nowMs), options.queryStatsStore, log);
  }, TICK_MS);
  return {
    addresses: listeners.map(({ address }) => address),
    detector,
    stats,
    seeding,
    get servers() {
      return plane.servers;
    },
    get threads() {
      return plane instanceof UdpThreads ? plane.workers : [];
    },
    tcp: relay,
    packets: () => named(plane.packets()),
    unlearned: () => plane.unlearned(),
    faults: () => plane.faults() + tcpFaults.count,
    async stop() {
      clearInterval(timer);
      seeding.stop();
      await close();
      await keepMinutes(stats.flush(Date.now()), options.queryStatsStore, log);
      await saveAtEnd();
    },
  };
}

/** One thread is this one; several share the ports, where Node can do that. */
async function startPlane(options: GuardOptions, detector: AttackDetector, log: GuardLog): Promise<Plane> {
  const { servers, timeoutMs = DEFAULT_TIMEOUT_MS, guarded = true, workers = 1 } = options;
  const reason = cannotSharePort();
  const threads = threadsFor(workers, reason);
  if (workers !== 1 && reason !== undefined) log.info({ reason }, 'one thread receives DNS');
  const onFault = sayFault(log);
  if (threads > 1)
    return UdpThreads.start({ threads, task: { servers, timeoutMs, guarded }, detector, log, onFault });
  const plane = new UdpPlane({
    servers,
    timeoutMs,
    guarded,
    policy: detector,
    // A port that can be shared is listened on by several sockets: each has a buffer of its own for the bursts of a flood.
    sharesPorts: reason === undefined,
    onLearn: (answer, question, address) => learn(detector, answer, question, address),
    onFault,
  });
  await plane.opened();
  return plane;
}

function learn(detector: AttackDetector, answer: Uint8Array, question: Question, address: string): void {
  if (detector.zones.find(question) === detector.zones.outside) {
    const zone = negativeZone(answer, question.end);
    if (zone !== undefined) detector.zones.addWire(zone);
  }
  detector.learn(question, rcodeOf(answer), networkHash(address), Date.now());
}

/** Answers over TCP teach as those over UDP do; a transfer says nothing of what clients ask for. */
function learnOverTcp(detector: AttackDetector, faults: PacketFaults): OnTcpAnswer {
  const question = new Question();
  const hear: OnTcpAnswer = (head, address) => {
    if (!isResponse(head) || readQuestionSection(head, head.length, detector.key, question) !== ReadResult.ok)
      return;
    if (!isTransfer(question.type)) learn(detector, head, question, address);
  };
  return (head, address) => {
    try {
      hear(head, address);
    } catch (error) {
      faults.note(error, Date.now());
    }
  };
}

const sayFault =
  (log: GuardLog) =>
  (fault: string): void =>
    log.warn(
      { fault },
      'a packet could not be handled and was dropped, by a fault of Floodgate: please report it',
    );

/** Its connections are closed already. */
const closeTcp = async ({ tcp }: Listener): Promise<void> => {
  await new Promise((resolve) => tcp.close(resolve));
};

/** The names are the keys of the record, each with its number: the entries are the whole of it. */
const named = (packets: readonly number[]): ReturnType<Guard['packets']> =>
  Object.fromEntries(readResultNames.map((name, result) => [name, packets[result] ?? 0])) as ReturnType<
    Guard['packets']
  >;
