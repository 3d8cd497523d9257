/** The body of a receiving thread: a plane of its own that decides from the shared state and tells the detector what it learns. */
import { parentPort, workerData } from 'node:worker_threads';
import { QueryPolicy } from '../../detector/index.ts';
import { negativeZone, networkHash, rcodeOf } from '../../protocol/index.ts';
import { LearnedAnswerQueue } from './learnedAnswers.ts';
import type { FromThread, ThreadTask, ToThread } from './threadMessages.ts';
import { UdpPlane } from './udpPlane.ts';

const TICK_MS = 1000;

const port = parentPort;
if (port === null) throw new Error('udpThread.js is a thread of the guard and cannot be run by itself');
const task = workerData as ThreadTask; // what UdpThreads starts it with
const tell = (message: FromThread): void => port.postMessage(message);

const policy = new QueryPolicy(task.key, task.sharedState, (zone) => tell({ kind: 'alarm', zone }));
const learnedAnswers = new LearnedAnswerQueue((batch) => tell({ kind: 'answers', batch }));
const plane = new UdpPlane({
  ...task,
  policy,
  sharesPorts: true,
  onLearn(answer, question, address) {
    const zone = policy.zoneIndex.find(question);
    const named = zone === 0 ? negativeZone(answer, question.end) : undefined;
    if (named !== undefined) tell({ kind: 'zone', wire: named });
    learnedAnswers.add(question, zone, rcodeOf(answer), networkHash(address));
  },
  onFault: (fault) => tell({ kind: 'fault', fault }),
});

const tellCounts = (): void =>
  tell({
    kind: 'counts',
    counts: {
      packets: plane.packets(),
      servers: plane.servers.map(
        ({ address, up, unreachable, answered, timedOut, mismatched, inFlight }) => ({
          address,
          up,
          unreachable,
          answered,
          timedOut,
          mismatched,
          inFlight: { waiting: inFlight.waiting },
        }),
      ),
      lost: learnedAnswers.lost,
      faults: plane.faults(),
    },
  });
const timer = setInterval(() => {
  plane.tick(Date.now());
  tellCounts();
}, TICK_MS);

port.on('message', (message: ToThread) => {
  if (message.kind === 'heard') learnedAnswers.heard();
  else if (message.kind === 'stop') void stop();
  else
    plane.listen(message.frontend, message.address).then(
      () => tell({ kind: 'listening', frontend: message.frontend }),
      ({ message: text, code }: NodeJS.ErrnoException) =>
        tell({ kind: 'listening', frontend: message.frontend, fault: { message: text, code } }),
    );
});
await plane.opened();
tellCounts();
tell({ kind: 'ready' });

async function stop(): Promise<void> {
  clearInterval(timer);
  await plane.close();
  learnedAnswers.flush();
  tellCounts();
  port?.close();
}
