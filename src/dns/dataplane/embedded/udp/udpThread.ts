/**
 * Program of a receiver thread. The thread gives verdicts on UDP queries from state in shared memory, and sends
 * learned answers to the detector in the main thread.
 */

import { parentPort } from 'node:worker_threads';
import { onBackgroundFailure } from '../../../../platform/background/index.ts';
import { type AnswerSink, learnAnswer, QueryPolicy } from '../../../detector/index.ts';
import { LearnedAnswerQueue } from './learnedAnswers.ts';
import { LocalUdpRelay } from './localUdpRelay.ts';
import type { FromThread, ThreadTask, ToThread } from './threadMessages.ts';

const TICK_MS = 1000;

const port = parentPort;
if (port === null) throw new Error('udpThread.js must be started as a worker thread of the guard');
const send = (message: FromThread): void => port.postMessage(message);

/** Ends the thread by an exception outside of any promise. The main thread then starts another thread. */
const endThread = (error: unknown): void => {
  setImmediate(() => {
    throw error;
  });
};

port.once('message', (task: ThreadTask) => {
  onBackgroundFailure((failure) => send({ kind: 'failure', ...failure }));
  const policy = new QueryPolicy(task.key, task.sharedState, (zone) => send({ kind: 'alarm', zone }));
  const learnedAnswers = new LearnedAnswerQueue((batch) => send({ kind: 'answers', batch }));
  const sink: AnswerSink = {
    zoneIndex: policy.zoneIndex,
    allows: (question, client) => policy.allows(question, client),
    addZone: (wire) => send({ kind: 'zone', wire }),
    learnIn: learnedAnswers.add,
  };
  const relay = new LocalUdpRelay(task, {
    policy,
    rateCounters: task.rateCounters,
    responseTimes: task.responseTimes,
    onAnswer: (answer, question, client) => learnAnswer(sink, answer, question, client, Date.now()),
    onFault: (fault) => send({ kind: 'fault', fault }),
  });

  const tellCounts = (): void =>
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
        lost: learnedAnswers.lost,
        limited: relay.limited(),
        servfails: relay.servfails(),
        faults: relay.faults(),
      },
    });
  const timer = setInterval(() => {
    relay.tick(Date.now());
    for (const batch of relay.takeSamples()) send({ kind: 'samples', batch });
    tellCounts();
  }, TICK_MS);

  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await relay.close();
    learnedAnswers.flush();
    tellCounts();
    port.close();
  };

  port.on('message', (message: ToThread) => {
    if (message.kind === 'heard') learnedAnswers.acknowledge();
    else if (message.kind === 'stop') stop().catch(endThread);
    else if (message.kind === 'leave')
      relay
        .unlisten(message.frontend)
        .then(() => send({ kind: 'left', frontend: message.frontend }), endThread);
    else
      relay.listen(message.frontend, message.address).then(
        () => send({ kind: 'listening', frontend: message.frontend }),
        ({ message: text, code }: NodeJS.ErrnoException) =>
          send({ kind: 'listening', frontend: message.frontend, fault: { message: text, code } }),
      );
  });
  relay.opened().then(() => {
    tellCounts();
    send({ kind: 'ready' });
  }, endThread);
});
send({ kind: 'loaded' });
