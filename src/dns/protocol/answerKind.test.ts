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
  type >> 8,
  type & 0xff,
  0,
  1,
  0,
  0,
  0,
  60,
  data.length >> 8,
  data.length & 0xff,
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

/** NOERROR without records except an OPT record with these upper eight bits of the rcode. */
function withOpt(upper: number): Uint8Array {
  const packet = Uint8Array.from([...answer(0, 0), 0, 0, 41, 4, 208, upper, 0, 0, 0, 0, 0]);
  packet[11] = 1;
  return packet;
}

describe('answerKind', () => {
  it.each([
    ['an answer with records', answer(0, 1), AnswerKind.records],
    ['NXDOMAIN', answer(3, 0, SOA), AnswerKind.nxdomain],
    ['another error by its rcode', answer(2, 0), 2],
    ['a referral to another zone', answer(0, 0, NS), AnswerKind.records],
    ['NODATA', answer(0, 0, SOA), AnswerKind.noData],
    ['signed NODATA', answer(0, 0, SOA, nsec(0, 6, 0x40, 0, 0, 0, 0, 3)), AnswerKind.noData],
    ['a denial with RRSIG and NSEC', answer(0, 0, SOA, nsec(0, 6, 0, 0, 0, 0, 0, 3)), AnswerKind.denial],
    [
      'a denial with NXNAME',
      answer(0, 0, nsec(0, 17, 0, 0, 0, 0, 0, 3, ...Array(10).fill(0), 0x80), SOA),
      AnswerKind.denial,
    ],
    [
      'NODATA of a name with a type above 255',
      answer(0, 0, nsec(0, 6, 0, 0, 0, 0, 0, 3, 1, 1, 0x40), SOA),
      AnswerKind.noData,
    ],
    ['a truncated answer without records', answer(0x200, 0), AnswerKind.truncated],
    ['BADVERS', withOpt(1), AnswerKind.badVersion],
    ['NODATA with an OPT record', withOpt(0), AnswerKind.noData],
  ])('classifies %s', (_, packet, kind) => {
    expect(answerKind(packet, END)).toBe(kind);
  });

  it('returns noData for a packet that is cut at any offset', () => {
    const whole = answer(0, 0, SOA, nsec(0, 6, 0, 0, 0, 0, 0, 3));
    const kinds = Array.from({ length: whole.length - END }, (_, n) =>
      answerKind(whole.subarray(0, END + n), END),
    );
    expect(new Set(kinds)).toEqual(new Set([AnswerKind.noData]));
  });
});
