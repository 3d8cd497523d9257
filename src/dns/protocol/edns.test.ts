import { expect, it } from 'vitest';
import { type OptFields, opt, option, withRecords } from '../../../test/dns/support/edns.ts';
import { Edns } from './edns.ts';
import { nameToWire } from './name.ts';
import { QueryType } from './queryTypes.ts';
import { Question, ReadResult, readQuery } from './question.ts';
import { queryPacket } from './questionOf.ts';
import { HEADER_BYTES } from './wire.ts';

const KEY = { high: 1, low: 2 };
const WWW = Buffer.from(queryPacket(nameToWire('www.example.test'), QueryType.A, 7));
const COOKIE = option(10, Buffer.alloc(8));
const A_RECORD = Buffer.from([0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);

/** Returns a query whose header counts one record in a section that is empty. */
function withCount(offset: number): Buffer {
  const packet = Buffer.from(WWW);
  packet.writeUInt16BE(1, offset);
  return packet;
}

const read = (packet: Uint8Array): readonly [ReadResult, number] => {
  const question = new Question();
  return [readQuery(packet, KEY, question), question.edns];
};
const cookieQuery = (fields: OptFields): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  return withRecords(header, opt(fields));
};

it.each<readonly [string, Buffer, boolean]>([
  ['only a question', WWW, false],
  ['an OPT record', withRecords(WWW, opt({ options: COOKIE })), false],
  ['a malformed OPT record', withRecords(WWW, opt({ options: Buffer.alloc(3) })), true],
  ['another additional record', withRecords(WWW, A_RECORD), true],
  ['an OPT record and another record', withRecords(WWW, A_RECORD, opt()), true],
  ['an answer count', withCount(6), true],
  ['an authority count', withCount(8), true],
  ['an additional count', withCount(10), true],
  ['a response code', Buffer.concat([WWW.subarray(0, 3), Buffer.of(0x0f), WWW.subarray(4)]), true],
  [
    'all flags without a response code',
    Buffer.concat([WWW.subarray(0, 2), Buffer.of(0x07, 0xf0), WWW.subarray(4)]),
    false,
  ],
])('a query with %s is unusual or not', (_, packet, expected) => {
  const question = new Question();
  for (const before of [false, true]) {
    question.isUnusual = before;
    readQuery(packet, KEY, question);
    expect(question.isUnusual).toBe(expected);
  }
});

it('a query without an OPT record has no EDNS', () => {
  expect(read(WWW)).toEqual([ReadResult.ok, 0]);
  expect(read(withRecords(WWW, A_RECORD))).toEqual([ReadResult.ok, 0]);
});

it.each<readonly [string, OptFields, number]>([
  ['no options', {}, Edns.opt],
  ['DO', { dnssecOk: true }, Edns.opt | Edns.dnssecOk],
  ['an unknown option', { options: option(65_001, Buffer.alloc(3)) }, Edns.opt],
  ['a cookie', { options: COOKIE }, Edns.opt | Edns.cookie],
  ['a malformed option of another version', { version: 1, options: Buffer.alloc(3) }, Edns.opt],
])('an OPT record with %s is valid', (_, fields, edns) => {
  expect(read(withRecords(WWW, opt(fields)))).toEqual([ReadResult.ok, edns]);
  expect(read(withRecords(WWW, A_RECORD, opt(fields)))).toEqual([ReadResult.ok, edns]);
});

it.each<readonly [string, Buffer, number]>([
  ['a cut option head', withRecords(WWW, opt({ options: Buffer.alloc(3) })), Edns.opt],
  [
    'an option longer than the record',
    withRecords(WWW, opt({ options: option(3, Buffer.alloc(2), 3) })),
    Edns.opt,
  ],
  [
    'bytes after the options',
    withRecords(WWW, opt({ options: Buffer.concat([COOKIE, Buffer.of(0)]) })),
    Edns.opt,
  ],
  ['two OPT records', withRecords(WWW, opt({ dnssecOk: true }), opt()), Edns.opt | Edns.dnssecOk],
  ['an owner other than the root', withRecords(WWW, opt({ owner: 'www' })), 0],
  ['data that exceed the packet', withRecords(WWW, opt({ options: COOKIE })).subarray(0, -1), Edns.opt],
  ['a cut head', withRecords(WWW, opt()).subarray(0, -1), 0],
])('an OPT record is malformed with %s', (_, packet, edns) => {
  expect(read(packet)).toEqual([ReadResult.badOpt, edns | Edns.malformed]);
});

it('the OPT record of a query with an opcode other than QUERY, or with two questions, is read', () => {
  const update = withRecords(WWW, opt({ dnssecOk: true }));
  update[2] = 5 << 3;
  expect(read(update)).toEqual([ReadResult.opcode, Edns.opt | Edns.dnssecOk]);
  const two = withRecords(Buffer.concat([WWW, WWW.subarray(HEADER_BYTES)]), opt());
  two[5] = 2;
  expect(read(two)).toEqual([ReadResult.questionCount, Edns.opt]);
});

it.each([8, 16, 24, 40])('a query that consists of a cookie of %i octets is valid', (size) => {
  const question = new Question();
  readQuery(WWW, KEY, question);
  expect(readQuery(cookieQuery({ options: option(10, Buffer.alloc(size)) }), KEY, question)).toBe(
    ReadResult.cookie,
  );
  expect(question).toMatchObject({ end: HEADER_BYTES, labels: 0, type: 0, hashHigh: 0, hashLow: 0 });
});

it.each<readonly [string, Buffer]>([
  ['no cookie', cookieQuery({})],
  ['two cookies', cookieQuery({ options: Buffer.concat([COOKIE, COOKIE]) })],
  ['a cookie of 7 octets', cookieQuery({ options: option(10, Buffer.alloc(7)) })],
  ['a cookie of 15 octets', cookieQuery({ options: option(10, Buffer.alloc(15)) })],
  ['a cookie of 41 octets', cookieQuery({ options: option(10, Buffer.alloc(41)) })],
  ['another EDNS version', cookieQuery({ version: 1, options: COOKIE })],
  ['bytes after the record', Buffer.concat([cookieQuery({ options: COOKIE }), Buffer.of(0)])],
  ['another record', withRecords(cookieQuery({ options: COOKIE }), A_RECORD)],
])('a query without a question is invalid with %s', (_, packet) => {
  expect(read(packet)[0]).toBe(ReadResult.questionCount);
});
