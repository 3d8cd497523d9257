import { describe, expect, it } from 'vitest';
import { nameToWire, QueryType, Question, queryPacket, readQuery } from '../../../protocol/index.ts';
import { UnansweredQueries } from './unansweredQueries.ts';

const question = new Question();

/** Adds queries with these ids. */
function added(...ids: readonly number[]): UnansweredQueries {
  const queries = new UnansweredQueries();
  for (const id of ids) {
    const packet = queryPacket(nameToWire(`h${id}.example.test`), QueryType.A, id);
    readQuery(packet, { high: 1, low: 2 }, question);
    queries.add(packet, question);
  }
  return queries;
}
const answerWith = (id: number): Uint8Array => Uint8Array.of(id >> 8, id & 0xff, 0x80, 0);
const ids = (answers: readonly Buffer[] | undefined) => answers?.map((framed) => framed.readUInt16BE(2));
const upTo100 = Array.from({ length: 100 }, (_, id) => id);

describe('queries of a TCP connection without an answer', () => {
  it('are answered SERVFAIL, except those that a server has answered', () => {
    const queries = added(1, 2, 3);
    queries.answered(answerWith(2));
    const answers = queries.fail(() => true);
    expect(ids(answers)).toEqual([1, 3]);
    expect(answers?.map((framed) => framed.readUInt8(5) & 15)).toEqual([2, 2]);
    expect(queries.size).toBe(0);
    expect(ids(queries.fail(() => true))).toEqual([]);
  });

  it('get no answer if a server has answered with an unknown id, because it is unclear which ones are pending', () => {
    const queries = added(1, 2);
    queries.answered(answerWith(7));
    expect(queries.fail(() => true)).toBeUndefined();
    expect(queries.size).toBe(0);
  });

  it('get no answer if there are more than 100', () => {
    expect(ids(added(...upTo100).fail(() => true))).toEqual(upTo100);
    expect(added(...upTo100, 100).fail(() => true)).toBeUndefined();
  });

  it('get no answer if their number exceeds the limit of SERVFAIL answers', () => {
    const asked: number[] = [];
    const mayNot = (answers: number): boolean => asked.push(answers) < 0;
    expect(added(1, 2).fail(mayNot)).toBeUndefined();
    expect(asked).toEqual([2]);
  });
});
