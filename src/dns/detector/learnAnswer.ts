import { answerKind, negativeZone, networkHash, type Question } from '../protocol/index.ts';
import type { ZoneIndex } from './zones/zoneIndex.ts';

/** What learning needs of a question. */
export type AskedName = Pick<Question, 'hashHigh' | 'hashLow' | 'type'>;

/** Where an answer teaches: the detector, or a thread that passes it on to the detector. */
export interface AnswerSink {
  readonly zoneIndex: ZoneIndex;
  /** A zone that a negative answer named, in wire form. */
  addZone(wire: Uint8Array): void;
  /**
   * An answer of this kind (`AnswerKind`) in the zone with this number, to somebody in the network with this hash; `isProven`
   * where nobody can have forged that network. Called for each packet: no object is made.
   */
  learnIn(
    zone: number,
    asked: AskedName,
    kind: number,
    network: number,
    nowMs: number,
    isProven?: boolean,
  ): void;
}

/** Learns from the answer to a question that was read from it: the zone that a negative answer names, then the name. */
// biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
export function learnAnswer(
  sink: AnswerSink,
  answer: Uint8Array,
  question: Question,
  client: string,
  nowMs: number,
  isProven = false,
): void {
  let zone = sink.zoneIndex.find(question);
  if (zone === 0) {
    const named = negativeZone(answer, question.end);
    if (named !== undefined) {
      sink.addZone(named);
      zone = sink.zoneIndex.find(question);
    }
  }
  const kind = answerKind(answer, question.end);
  sink.learnIn(zone, question, kind, networkHash(client), nowMs, isProven);
}
