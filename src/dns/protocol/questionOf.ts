import { nameToWire } from './name.ts';
import type { HashKey } from './nameHash.ts';
import { Question, readQuestionSection } from './question.ts';
import { HEADER_BYTES } from './wire.ts';

const IN_CLASS = 1;

/** Builds a query packet with one question of class IN and without flags. `name`: in wire form. */
export function queryPacket(name: Uint8Array, type: number, id = 0): Uint8Array {
  const packet = new Uint8Array(HEADER_BYTES + name.length + 4);
  const view = new DataView(packet.buffer);
  view.setUint16(0, id);
  view.setUint16(4, 1);
  packet.set(name, HEADER_BYTES);
  view.setUint16(HEADER_BYTES + name.length, type);
  view.setUint16(HEADER_BYTES + name.length + 2, IN_CLASS);
  return packet;
}

/** Returns the question that a query packet for `name`, in wire form, contains. */
export function questionOfWire(name: Uint8Array, type: number, key: HashKey): Question {
  const question = new Question();
  readQuestionSection(queryPacket(name, type), key, question);
  return question;
}

/** Returns the question that a query packet for `name`, as text, contains. Throws `BadNameError`. */
export const questionOf = (name: string, type: number, key: HashKey): Question =>
  questionOfWire(nameToWire(name), type, key);
