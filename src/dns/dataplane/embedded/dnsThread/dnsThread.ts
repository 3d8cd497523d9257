/**
 * Program of a DNS thread, which serves UDP or TCP. The thread decides queries from state in shared memory, and sends
 * learned answers to the detector in the main thread.
 */

import { parentPort } from 'node:worker_threads';
import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import { onBackgroundFailure } from '../../../../platform/background/index.ts';
import { Scheduler } from '../../../../platform/scheduler/index.ts';
import { type AnswerSink, learnAnswer, QueryPolicy, TcpPolicy } from '../../../detector/index.ts';
import { HealthStatus } from '../servers/serverHealth.ts';
import { LocalTcpRelay } from '../tcp/localTcpRelay.ts';
import { LocalUdpRelay } from '../udp/localUdpRelay.ts';
import { LearnedAnswerQueue } from './learnedAnswers.ts';
import type { FromThread, TcpTask, ThreadTask, ToThread, UdpTask } from './threadMessages.ts';

const TICK_MS = 1000;

const port = parentPort;
if (port === null) throw new Error('dnsThread.js must be started as a worker thread of the guard');
const send = (message: FromThread): void => port.postMessage(message);

/** Ends the thread by an exception outside of any promise. The main thread then starts another thread. */
const endThread = (error: unknown): void => {
  setImmediate(() => {
    throw error;
  });
};

/** What the program needs of a relay. */
interface ThreadRelay {
  /** Returns the port. */
  listen(frontend: number, address: ServerAddress): Promise<number>;
  unlisten(frontend: number): Promise<void>;
  setUdpHealth(statuses: readonly HealthStatus[]): void;
  tick(nowMs: number): void;
  sendCounts(): void;
  close(): Promise<void>;
}

interface ThreadParts {
  readonly policy: QueryPolicy;
  readonly sink: AnswerSink;
  readonly lost: () => number;
}

async function udpRelayOf(task: UdpTask, { policy, sink, lost }: ThreadParts): Promise<ThreadRelay> {
  const relay = new LocalUdpRelay(task, {
    policy,
    rateCounters: task.rateCounters,
    responseTimes: task.responseTimes,
    onAnswer: (answer, question, client) => learnAnswer(sink, answer, question, client, Date.now()),
    onFault: (fault) => send({ kind: 'fault', fault }),
  });
  await relay.opened();
  return {
    async listen(frontend, address) {
      await relay.listen(frontend, address);
      return address.port;
    },
    unlisten: (frontend) => relay.unlisten(frontend),
    setUdpHealth: () => undefined,
    tick(nowMs) {
      relay.tick(nowMs);
      for (const batch of relay.takeSamples()) send({ kind: 'samples', batch });
    },
    sendCounts: () =>
      send({
        kind: 'counts',
        counts: {
          packets: relay.packets(),
          servers: relay.servers.map((backend) => ({
            address: backend.address,
            up: backend.up,
            status: backend.status,
            unreachable: backend.unreachable,
            answered: backend.answered,
            timedOut: backend.timedOut,
            mismatched: backend.mismatched,
            retried: backend.retried,
            inFlight: { waiting: backend.inFlight.waiting },
          })),
          lost: lost(),
          limited: relay.limited(),
          servfails: relay.servfails(),
          faults: relay.faults(),
        },
      }),
    close: () => relay.close(),
  };
}

function tcpRelayOf(task: ThreadTask & TcpTask, { policy, sink, lost }: ThreadParts): ThreadRelay {
  const { key, sharedState, servers } = task;
  let statuses: readonly HealthStatus[] = servers.map(() => HealthStatus.inUse);
  let turn = 0;
  const relay = new LocalTcpRelay(task, {
    key,
    policy: new TcpPolicy(policy, sharedState, (zone) => send({ kind: 'alarm', zone })),
    serversInOrder() {
      const first = turn++ % servers.length;
      const turned = [...servers.keys()].map((i) => (first + i) % servers.length);
      const statusOf = (i: number): number => statuses[i] ?? HealthStatus.inUse;
      return turned.sort((one, other) => statusOf(one) - statusOf(other)).flatMap((i) => servers[i] ?? []);
    },
    isAnyUp: () => statuses.includes(HealthStatus.inUse),
    onAnswer: (head, question, client) => learnAnswer(sink, head, question, client, Date.now(), true),
    unlearned: lost,
    onFault: (fault) => send({ kind: 'fault', fault }),
    onNotAccepted: (reason) => send({ kind: 'notAccepted', reason }),
    scheduler: new Scheduler(),
  });
  return {
    listen: (frontend, address) => relay.listen(frontend, address),
    unlisten: (frontend) => relay.unlisten(frontend),
    setUdpHealth(now) {
      statuses = now;
    },
    tick: () => undefined,
    sendCounts: () => send({ kind: 'tcpFigures', figures: relay.figures }),
    close: () => relay.close(),
  };
}

async function serve(task: ThreadTask): Promise<void> {
  onBackgroundFailure((failure) => send({ kind: 'failure', ...failure }));
  const policy = new QueryPolicy(task.key, task.sharedState, (zone) => send({ kind: 'alarm', zone }));
  const learnedAnswers = new LearnedAnswerQueue((batch) => send({ kind: 'answers', batch }));
  const sink: AnswerSink = {
    zoneIndex: policy.zoneIndex,
    allows: (question, client) => policy.allows(question, client),
    addZone: (wire) => send({ kind: 'zone', wire }),
    learnIn: learnedAnswers.add,
  };
  const parts = { policy, sink, lost: () => learnedAnswers.lost };
  const relay = task.kind === 'udp' ? await udpRelayOf(task, parts) : tcpRelayOf(task, parts);

  const timer = setInterval(() => {
    relay.tick(Date.now());
    relay.sendCounts();
  }, TICK_MS);

  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await relay.close();
    learnedAnswers.flush();
    relay.sendCounts();
    port?.close();
  };

  const listen = ({ frontend, address }: Extract<ToThread, { kind: 'listen' }>): Promise<void> =>
    relay.listen(frontend, address).then(
      (bound) => send({ kind: 'listening', frontend, port: bound }),
      ({ message, code }: NodeJS.ErrnoException) =>
        send({ kind: 'listening', frontend, port: address.port, fault: { message, code } }),
    );

  port?.on('message', (message: ToThread) => {
    if (message.kind === 'heard') learnedAnswers.acknowledge();
    else if (message.kind === 'udpHealth') relay.setUdpHealth(message.statuses);
    else if (message.kind === 'stop') stop().catch(endThread);
    else if (message.kind === 'listen') listen(message).catch(endThread);
    else {
      const { frontend } = message;
      relay.unlisten(frontend).then(() => send({ kind: 'left', frontend }), endThread);
    }
  });
  relay.sendCounts();
  send({ kind: 'ready' });
}

port.once('message', (task: ThreadTask) => serve(task).catch(endThread));
send({ kind: 'loaded' });
