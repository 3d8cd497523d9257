import { negativeZone, networkHash, type Question, rcodeOf } from '../protocol/index.ts';
import type { ZoneIndex } from './zones/zoneIndex.ts';

/** What learning needs of a question. */
export type AskedName = Pick<Question, 'hashHigh' | 'hashLow' | 'type'>;

/** Where an answer teaches: the detector, or a thread that passes it on to the detector. */
export interface AnswerSink {
  readonly zoneIndex: ZoneIndex;
  /** A zone that a negative answer named, in wire form. */
  addZone(wire: Uint8Array): void;
  /** An answer in the zone with this number, to somebody in the network with this hash. Called for each packet: no object is made. */
  learnIn(zone: number, asked: AskedName, rcode: number, network: number, nowMs: number): void;
}

/** Learns from the answer to a question that was read from it: the zone that a negative answer names, then the name. */
export function learnAnswer(
  sink: AnswerSink,
  answer: Uint8Array,
  question: Question,
  client: string,
  nowMs: number,
): void {
  let zone = sink.zoneIndex.find(question);
  if (zone === 0) {
    const named = negativeZone(answer, question.end);
    if (named !== undefined) {
      sink.addZone(named);
      zone = sink.zoneIndex.find(question);
    }
  }
  sink.learnIn(zone, question, rcodeOf(answer), networkHash(client), nowMs);
}
