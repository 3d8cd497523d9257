import { expect, it } from 'vitest';
import { nameToWire, QueryType, Question, queryPacket, readQuestionSection } from '../../protocol/index.ts';
import { newRateCounters, ResponseRateLimit } from './responseRateLimit.ts';

const KEY = { high: 1, low: 2 };
const NOERROR = 0;
const NXDOMAIN = 3;
const NOW_MS = 1_000_000;
const QUESTION_AT = 12;
/** Offset after the first label of `a.example.test`. */
const PARENT_AT = 14;

/** Builds an answer with one record: an A record, or an SOA or NS of the parent name in the authority section. */
function answerTo(name: string, rcode: number, kind: 'answer' | 'SOA' | 'NS' | 'none'): Buffer {
  const pointsAt = kind === 'answer' ? QUESTION_AT : PARENT_AT;
  const record = Buffer.from([0xc0, pointsAt, 0, kind === 'SOA' ? 6 : kind === 'NS' ? 2 : 1, 0, 1]);
  const answer = Buffer.concat(
    [queryPacket(nameToWire(name), QueryType.A), kind === 'none' ? '' : record].map(Buffer.from),
  );
  answer[2] = 0x84;
  answer[3] = rcode;
  answer[kind === 'answer' ? 7 : 9] = kind === 'none' ? 0 : 1;
  return answer;
}

function limitOf(perSecond: number, counters = newRateCounters()) {
  const limit = new ResponseRateLimit({ perSecond }, { key: KEY, counters });
  const question = new Question();
  return (answer: Buffer, client = '192.0.2.1', nowMs = NOW_MS) => {
    readQuestionSection(answer, KEY, question);
    return limit.note(answer, question, client, nowMs) ? 'truncated' : 'sent';
  };
}

it('equal answers to one network are sent with TC=1 above the limit per second', () => {
  const note = limitOf(3);
  const answer = answerTo('www.example.test', NOERROR, 'answer');
  expect(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map((host) => note(answer, host))).toEqual([
    'sent',
    'sent',
    'sent',
    'truncated',
  ]);
  expect(note(answer, '192.0.3.1')).toBe('sent');
  expect(note(answerTo('h1.example.test', NOERROR, 'answer'))).toBe('sent');
  expect(note(answer, '192.0.2.1', NOW_MS + 1000)).toBe('sent');
});

it('an IPv6 /56 counts as one network', () => {
  const note = limitOf(1);
  const answer = answerTo('www.example.test', NOERROR, 'answer');
  expect(note(answer, '2001:db8:0:1234::1')).toBe('sent');
  expect(note(answer, '2001:db8:0:12ff::1')).toBe('truncated');
  expect(note(answer, '2001:db8:0:1334::1')).toBe('sent');
});

it('NXDOMAIN is counted by zone, errors by rcode, and referrals by delegation', () => {
  const note = limitOf(1);
  expect(note(answerTo('a.example.test', NXDOMAIN, 'SOA'))).toBe('sent');
  expect(note(answerTo('b.example.test', NXDOMAIN, 'SOA'))).toBe('truncated');
  expect(note(answerTo('a.example.org', NXDOMAIN, 'SOA'))).toBe('sent');
  expect(note(answerTo('a.example.test', NOERROR, 'NS'))).toBe('sent');
  expect(note(answerTo('c.example.test', NOERROR, 'NS'))).toBe('truncated');
  expect(note(answerTo('a.example.test', 2, 'none'))).toBe('sent');
  expect(note(answerTo('b.example.test', 2, 'none'))).toBe('truncated');
  expect(note(answerTo('a.example.test', 5, 'none'))).toBe('sent');
});

it('zones are told apart if their name is not compressed', () => {
  const note = limitOf(1);
  const answerOf = (name: string) => {
    const answer = answerTo(`${name}.example.test`, NXDOMAIN, 'SOA');
    const owner = Buffer.from(nameToWire(`${name.slice(1)}.test`));
    const at = answer.length - 6;
    return Buffer.concat([answer.subarray(0, at), owner, answer.subarray(at + 2)]);
  };
  expect(['1one', '2one', '1two', '2two'].map((name) => note(answerOf(name)))).toEqual([
    'sent',
    'truncated',
    'sent',
    'truncated',
  ]);
});

it('answers of all threads are counted together', () => {
  const counters = newRateCounters();
  const [one, other] = [limitOf(1, counters), limitOf(1, counters)];
  const answer = answerTo('www.example.test', NOERROR, 'answer');
  expect([one(answer), other(answer)]).toEqual(['sent', 'truncated']);
});

it('a client below the limit is not limited while 100,000 networks send queries', () => {
  const note = limitOf(20);
  const answer = answerTo('www.example.test', NOERROR, 'answer');
  for (let n = 0; n < 100_000; n++) note(answer, `10.${n >> 12}.${(n >> 4) & 0xff}.${n & 0xf}`);
  expect(note(answer, '192.0.2.1')).toBe('sent');
});
