/** A flood that is spread over many zones judged by rate, each of which is below its own limit. */
import { AttackDetector, FIRST_NOT_FORWARDED, ZoneSeed } from '../../../src/dns/detector/index.ts';
import {
  AnswerKind,
  nameToWire,
  QueryType,
  Question,
  queryPacket,
  readQuestionSection,
} from '../../../src/dns/protocol/index.ts';
import { RULE } from './world.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const START = Date.UTC(2026, 10, 2);
const SECOND_MS = 1000;
const DAY_SECONDS = 86_400;
/** Queries per second of users, in all zones together. */
const USERS_PER_SECOND = 100;
/** Queries per second of the flood in each zone: below the floor of a limit. */
const FLOOD_PER_ZONE = 90;
const FLOOD_SECONDS = 8;
/** Seconds at the end of the flood in which queries are counted, after bursts are spent. */
const COUNTED_SECONDS = 3;
/** Lowest ceiling of the rate of all zones judged by rate together. */
const LOWEST_CEILING_PER_SECOND = 1000;

/** Returns how many queries of the flood pass each second, and the ceiling for them. */
export function floodOfManyZones(zones: number, capacityPerSecond: number) {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 5000 } }, START);
  const seed = new ZoneSeed({ zone: 'app.test' }, { detector });
  seed.add(nameToWire('app.test'), 'A');
  for (let n = 0; n < zones; n++) seed.add(nameToWire(`*.z${n}.app.test`), 'A');
  seed.finish();
  detector.setRule({ ...RULE, mode: 'enabled' }, START);
  let nowMs = START;
  let sent = 0;
  const question = new Question();
  /** Sends queries for a second, and returns how many pass. */
  const second = (perSecond: number): number => {
    let passed = 0;
    for (let i = 0; i < perSecond; i++) {
      const name = nameToWire(`r${sent.toString(36)}.z${sent++ % zones}.app.test`);
      readQuestionSection(queryPacket(name, QueryType.A), KEY, question);
      const atMs = nowMs + Math.floor((i * SECOND_MS) / perSecond);
      if (detector.decide(question, atMs) >= FIRST_NOT_FORWARDED) continue;
      if (++passed <= capacityPerSecond)
        detector.learn(question, { kind: AnswerKind.records, network: i % 20 }, atMs);
    }
    nowMs += SECOND_MS;
    detector.setUpstreamsHealthy(passed <= capacityPerSecond, nowMs);
    detector.tick(nowMs);
    return passed;
  };
  // Every twentieth second of a day: the free time is over, and each zone has a rate below the floor.
  for (let elapsed = 0; elapsed < DAY_SECONDS; elapsed += 20) {
    second(USERS_PER_SECOND);
    nowMs += 19 * SECOND_MS;
  }
  const passed = Array.from({ length: FLOOD_SECONDS }, () => second(zones * FLOOD_PER_ZONE));
  const counted = passed.slice(-COUNTED_SECONDS);
  return {
    passedPerSecond: counted.reduce((sum, count) => sum + count, 0) / COUNTED_SECONDS,
    ceilingPerSecond: Math.max(LOWEST_CEILING_PER_SECOND, USERS_PER_SECOND / 2),
  };
}
