/** The body of a receiving thread: a relay of its own that decides from the shared state and tells the detector what it learns. */
import { parentPort } from 'node:worker_threads';
import { type AnswerSink, learnAnswer, QueryPolicy } from '../../detector/index.ts';
import { LearnedAnswerQueue } from './learnedAnswers.ts';
import { LocalUdpRelay } from './localUdpRelay.ts';
import type { FromThread, ThreadTask, ToThread } from './threadMessages.ts';

const TICK_MS = 1000;

const port = parentPort;
if (port === null) throw new Error('udpThread.js is a thread of the guard and cannot be run by itself');
const tell = (message: FromThread): void => port.postMessage(message);

port.once('message', (task: ThreadTask) => {
  const policy = new QueryPolicy(task.key, task.sharedState, (zone) => tell({ kind: 'alarm', zone }));
  const learnedAnswers = new LearnedAnswerQueue((batch) => tell({ kind: 'answers', batch }));
  /** The detector hears of each answer a moment later. */
  const sink: AnswerSink = {
    zoneIndex: policy.zoneIndex,
    addZone: (wire) => tell({ kind: 'zone', wire }),
    learnIn: learnedAnswers.add,
  };
  const relay = new LocalUdpRelay(
    { ...task, sharesPorts: true },
    {
      policy,
      rateCounters: task.rateCounters,
      onAnswer: (answer, question, client) => learnAnswer(sink, answer, question, client, Date.now()),
      onFault: (fault) => tell({ kind: 'fault', fault }),
    },
  );

  const tellCounts = (): void =>
    tell({
      kind: 'counts',
      counts: {
        packets: relay.packets(),
        servers: relay.servers.map((backend) => ({
          address: backend.address,
          up: backend.up,
          standing: backend.standing,
          unreachable: backend.unreachable,
          answered: backend.answered,
          timedOut: backend.timedOut,
          mismatched: backend.mismatched,
          retried: backend.retried,
          inFlight: { waiting: backend.inFlight.waiting },
        })),
        lost: learnedAnswers.lost,
        limited: relay.limited(),
        faults: relay.faults(),
      },
    });
  const timer = setInterval(() => {
    relay.tick(Date.now());
    for (const batch of relay.takeSamples()) tell({ kind: 'samples', batch });
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
    if (message.kind === 'heard') learnedAnswers.heard();
    else if (message.kind === 'stop') void stop();
    else if (message.kind === 'leave')
      void relay.leave(message.frontend).then(() => tell({ kind: 'left', frontend: message.frontend }));
    else
      relay.listen(message.frontend, message.address).then(
        () => tell({ kind: 'listening', frontend: message.frontend }),
        ({ message: text, code }: NodeJS.ErrnoException) =>
          tell({ kind: 'listening', frontend: message.frontend, fault: { message: text, code } }),
      );
  });
  // If it cannot be opened, that ends the thread, and the guard hears why.
  void relay.opened().then(() => {
    tellCounts();
    tell({ kind: 'ready' });
  });
});
tell({ kind: 'loaded' });
