import { answerKind, negativeZone, networkHash, type Question } from '../protocol/index.ts';
import type { ZoneIndex } from './zones/zoneIndex.ts';

export type AskedName = Pick<Question, 'hashHigh' | 'hashLow' | 'type'>;

/** An object that learns from answers: the detector, or an object that forwards answers to the detector's thread. */
export interface AnswerSink {
  readonly zoneIndex: ZoneIndex;
  allows(question: Question, client: string): boolean;
  /** Adds a zone that a negative answer names. `wire`: zone name in wire form. */
  addZone(wire: Uint8Array): void;
  /**
   * Learns from an answer. `kind`: an `AnswerKind`. `network`: hash of the client network. `isAllowed`: an access
   * list allowed the query, so only its name is learned. `isProven`: the client's address cannot be forged.
   * Parameters are positional, because no object may be allocated per packet.
   */
  learnIn(
    zone: number,
    asked: AskedName,
    kind: number,
    network: number,
    isAllowed: boolean,
    nowMs: number,
    isProven?: boolean,
  ): void;
}

/** Learns the zone that a negative answer names, then the queried name. `question` must be parsed from `answer`. */
// biome-ignore lint/complexity/useMaxParams: called for each answer: no object is allocated
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
  sink.learnIn(zone, question, kind, networkHash(client), sink.allows(question, client), nowMs, isProven);
}
