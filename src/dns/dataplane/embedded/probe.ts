/** The question by which a server is found well or not: asked of each of them in the guard's own name. */
import {
  type HashKey,
  nameToWire,
  QueryType,
  Question,
  queryPacket,
  rcodeOf,
  readAnswer,
  readQuery,
} from '../../protocol/index.ts';
import { RCODE_SERVFAIL } from './localResponses.ts';
import type { ProbeResult } from './serverHealth.ts';

const RCODE_NOERROR = 0;
const RCODE_NXDOMAIN = 3;

export interface Probe {
  readonly packet: Buffer;
  readonly question: Question;
  /** Whether this answers the question, whatever the id. */
  answers(answer: Uint8Array): boolean;
  judge(answer: Uint8Array): ProbeResult;
}

/**
 * Asks for the SOA of a name. A server has to know one that was named for this; without one the root is asked for, which an
 * authoritative server refuses: all but SERVFAIL is well then.
 */
export function probeOf(name: string | undefined, key: HashKey): Probe {
  const packet = Buffer.from(queryPacket(nameToWire(name ?? '.'), QueryType.SOA));
  const question = new Question();
  const answered = new Question();
  readQuery(packet, key, question);
  return {
    packet,
    question,
    answers: (answer) =>
      readAnswer(answer, key, answered) &&
      answered.hashHigh === question.hashHigh &&
      answered.hashLow === question.hashLow &&
      answered.type === question.type,
    judge(answer) {
      const rcode = rcodeOf(answer);
      const isGood =
        name === undefined ? rcode !== RCODE_SERVFAIL : rcode === RCODE_NOERROR || rcode === RCODE_NXDOMAIN;
      return isGood ? 'good' : 'failing';
    },
  };
}
