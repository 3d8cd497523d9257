/** Health probe: a query that shows whether a DNS server works. */
import {
  type HashKey,
  isBareError,
  nameToWire,
  QueryType,
  Question,
  queryPacket,
  rcodeOf,
  readAnswer,
  readQuery,
} from '../../../protocol/index.ts';
import { RCODE_SERVFAIL } from '../localResponses.ts';
import type { ProbeResult } from './serverHealth.ts';

const RCODE_NOERROR = 0;
const RCODE_NXDOMAIN = 3;

export interface Probe {
  readonly packet: Buffer;
  readonly question: Question;
  /** Returns true if a packet answers the question of the probe. The transaction ID is not compared. */
  answers(answer: Uint8Array): boolean;
  judge(answer: Uint8Array): ProbeResult;
}

/**
 * Builds a health probe: an SOA query for `name`, which the server must answer with NOERROR or NXDOMAIN. Default: the
 * root. Authoritative servers refuse it, so any response code except SERVFAIL is then good.
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
      isBareError(answer) ||
      (readAnswer(answer, key, answered) &&
        answered.hashHigh === question.hashHigh &&
        answered.hashLow === question.hashLow &&
        answered.type === question.type),
    judge(answer) {
      const rcode = rcodeOf(answer);
      const isGood =
        name === undefined ? rcode !== RCODE_SERVFAIL : rcode === RCODE_NOERROR || rcode === RCODE_NXDOMAIN;
      return isGood ? 'good' : 'failing';
    },
  };
}
