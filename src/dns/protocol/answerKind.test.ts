import { describe, expect, it } from 'vitest';
import { AnswerKind, answerKind } from './answer.ts';
import { nameToWire } from './name.ts';
import { queryPacket, questionOfWire } from './questionOf.ts';

const ZONE = nameToWire('example.test');
const NAME = nameToWire('x.example.test');
const KEY = { high: 1, low: 2 };
const END = questionOfWire(NAME, 1, KEY).end;

const record = (owner: Uint8Array, type: number, data: readonly number[]) => [
  ...owner,
  ...[type >> 8, type & 0xff, 0, 1, 0, 0, 0, 60],
  ...[data.length >> 8, data.length & 0xff],
  ...data,
];
const SOA = record(ZONE, 6, Array(24).fill(0));
const NS = record(ZONE, 2, [...ZONE]);
const nsec = (...bitmap: number[]) => record(NAME, 47, [...ZONE, ...bitmap]);

function answer(flags: number, answers: number, ...authorities: number[][]): Uint8Array {
  const packet = [...queryPacket(NAME, 1), ...authorities.flat()];
  packet[2] = 0x80 | (flags >> 8);
  packet[3] = flags & 0xff;
  packet[7] = answers;
  packet[9] = authorities.length;
  return Uint8Array.from(packet);
}

describe('an answer says of a name', () => {
  it.each([
    ['that there are records', answer(0, 1), AnswerKind.records],
    ['that it does not exist', answer(3, 0, SOA), AnswerKind.nxdomain],
    ['an error', answer(2, 0), 2],
    ['that it lies in another zone', answer(0, 0, NS), AnswerKind.records],
    ['that it has no such record', answer(0, 0, SOA), AnswerKind.noData],
    ['the same, signed', answer(0, 0, SOA, nsec(0, 6, 0x40, 0, 0, 0, 0, 3)), AnswerKind.noData],
    [
      'that it does not exist, with RRSIG and NSEC',
      answer(0, 0, SOA, nsec(0, 6, 0, 0, 0, 0, 0, 3)),
      AnswerKind.denial,
    ],
    [
      'that it does not exist, with NXNAME',
      answer(0, 0, nsec(0, 17, 0, 0, 0, 0, 0, 3, ...Array(10).fill(0), 0x80), SOA),
      AnswerKind.denial,
    ],
    [
      'that a type above 255 exists',
      answer(0, 0, nsec(0, 6, 0, 0, 0, 0, 0, 3, 1, 1, 0x40), SOA),
      AnswerKind.noData,
    ],
    ['nothing, cut short', answer(0x200, 0), AnswerKind.truncated],
  ])('%s', (_, packet, kind) => {
    expect(answerKind(packet, END)).toBe(kind);
  });

  it('something, and reads no byte behind the end, wherever it is cut', () => {
    const whole = answer(0, 0, SOA, nsec(0, 6, 0, 0, 0, 0, 0, 3));
    const kinds = Array.from({ length: whole.length - END }, (_, n) =>
      answerKind(whole.subarray(0, END + n), END),
    );
    expect(new Set(kinds)).toEqual(new Set([AnswerKind.noData]));
  });
});
