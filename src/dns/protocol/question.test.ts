import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameToText, nameToWire } from './name.ts';
import { QueryType } from './queryTypes.ts';
import { Question, ReadResult, readQuery } from './question.ts';
import { queryPacket, questionOf } from './questionOf.ts';

const KEY = { high: 0xdeadbeef, low: 0x12345678 };
const read = (packet: Uint8Array, question = new Question()) => readQuery(packet, KEY, question);

const label = fc.uint8Array({ minLength: 1, maxLength: 63 });
const name = fc
  .array(label, { maxLength: 20 })
  .map((labels) => Uint8Array.from([...labels.flatMap((bytes) => [bytes.length, ...bytes]), 0]))
  .filter((wire) => wire.length <= 255);
const hashOf = (question: Question) => `${question.hashHigh}:${question.hashLow}`;

describe('a valid query', () => {
  it('is parsed completely: ID, type, class and the end of the question', () => {
    fc.assert(
      fc.property(
        name,
        fc.record({
          type: fc.nat(0xffff).filter((type) => type !== QueryType.AXFR && type !== QueryType.IXFR),
          id: fc.nat(0xffff),
        }),
        fc.uint8Array({ maxLength: 40 }),
        (wire, { type, id }, rest) => {
          const question = new Question();
          const packet = queryPacket(wire, type, id);
          expect(read(Uint8Array.from([...packet, ...rest]), question)).toBe(ReadResult.ok);
          expect(question).toMatchObject({ id, type, class: 1, end: packet.length });
        },
      ),
    );
  });

  it('has the same hash in any letter case', () => {
    fc.assert(
      fc.property(name, fc.infiniteStream(fc.boolean()), (wire, flips) => {
        const other = wire.slice();
        for (let at = 0; at < wire.length; at += (wire[at] ?? 0) + 1)
          for (let i = at + 1; i <= at + (wire[at] ?? 0); i++) {
            const letter = /[a-z]/i.test(String.fromCharCode(wire[i] ?? 0));
            if (letter && flips.next().value) other[i] = (wire[i] ?? 0) ^ 0x20;
          }
        const [one, two] = [new Question(), new Question()];
        read(queryPacket(wire, 1), one);
        read(queryPacket(other, 1), two);
        expect(hashOf(two)).toBe(hashOf(one));
      }),
    );
  });

  it('has a unique hash among 200,000 names', () => {
    const hashes = new Set<string>();
    for (let i = 0; i < 200_000; i++) hashes.add(hashOf(questionOf(`h${i}.example.test`, 1, KEY)));
    expect(hashes.size).toBe(200_000);
  });

  it('has another hash than a name with the same letters but other labels', () => {
    const hashes = ['ab.c', 'a.bc', 'abc', 'a.b.c'].map((text) => hashOf(questionOf(text, 1, KEY)));
    expect(new Set(hashes).size).toBe(4);
  });

  it('provides the hash of every suffix', () => {
    const question = questionOf('a.b.example.test', 1, KEY);
    const suffix = questionOf('example.test', 1, KEY);
    expect(question.suffixHigh[1]).toBe(suffix.suffixHigh[1]);
    expect(question.suffixLow[1]).toBe(suffix.suffixLow[1]);
  });
});

it('a zone transfer is recognised by its type, in any class and with any trailing data', () => {
  fc.assert(
    fc.property(
      name,
      fc.record({ type: fc.constantFrom(QueryType.AXFR, QueryType.IXFR), class: fc.nat(0xffff) }),
      fc.uint8Array({ maxLength: 40 }),
      (wire, { type, class: dnsClass }, rest) => {
        const question = new Question();
        const packet = queryPacket(wire, type, 7);
        packet.set([dnsClass >> 8, dnsClass & 0xff], packet.length - 2);
        expect(read(Uint8Array.from([...packet, ...rest]), question)).toBe(ReadResult.transfer);
        expect(question).toMatchObject({ id: 7, type, class: dnsClass, end: packet.length });
      },
    ),
  );
});

describe('a malformed packet', () => {
  const good = queryPacket(nameToWire('www.example.test'), QueryType.A, 77);
  const changed = (offset: number, byte: number) => {
    const packet = good.slice();
    packet[offset] = byte;
    return packet;
  };
  const longName = Uint8Array.from([
    ...Array.from({ length: 5 }, () => [63, ...Array(63).fill(97)]).flat(),
    0,
  ]);
  const cases: readonly (readonly [string, Uint8Array, ReadResult])[] = [
    ['an empty packet', new Uint8Array(), ReadResult.tooShort],
    ['eleven bytes', good.subarray(0, 11), ReadResult.tooShort],
    ['a header without a question', good.subarray(0, 12), ReadResult.badName],
    ['a truncated name', good.subarray(0, 20), ReadResult.badName],
    ['a missing type', good.subarray(0, good.length - 4), ReadResult.cutShort],
    ['half a class', good.subarray(0, good.length - 1), ReadResult.cutShort],
    ['a response', changed(2, 0x80), ReadResult.response],
    ['no question', changed(5, 0), ReadResult.questionCount],
    ['two questions', changed(5, 2), ReadResult.questionCount],
    ['255 questions', changed(5, 255), ReadResult.questionCount],
    ['257 questions', changed(4, 1), ReadResult.questionCount],
    ['an update', changed(2, 5 << 3), ReadResult.opcode],
    [
      'an update of 5,000 bytes',
      Uint8Array.from([...changed(2, 5 << 3), ...Array(5000).fill(0)]),
      ReadResult.opcode,
    ],
    ['a pointer to itself', changed(12, 0xc0), ReadResult.badName],
    ['a reserved label type', changed(12, 0x40), ReadResult.badName],
    ['a name of 321 octets', queryPacket(longName, 1), ReadResult.badName],
    ['a query of 5,000 bytes', Uint8Array.from([...good, ...Array(5000).fill(0)]), ReadResult.tooLong],
  ];
  it.each(cases)('returns a fault: %s', (_, packet, fault) => {
    expect(read(packet)).toBe(fault);
  });

  it('never causes an exception or a read beyond its end, for any bytes', () => {
    const mutated = fc
      .tuple(name, fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 6 }), fc.nat(300))
      .map(([wire, changes, cut]) => {
        const packet = queryPacket(wire, 1);
        for (const [offset, byte] of changes) if (offset < packet.length) packet[offset] = byte;
        return packet.subarray(0, Math.max(0, packet.length - (cut % 40)));
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 600 }), mutated), (packet) => {
        const question = new Question();
        const result = read(packet, question);
        expect(Object.values(ReadResult)).toContain(result);
        if (result === ReadResult.ok || result === ReadResult.transfer)
          expect(question.end).toBeLessThanOrEqual(packet.length);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('a name in text', () => {
  it('keeps its hash when converted to text and back', () => {
    fc.assert(
      fc.property(name, (wire) => {
        const question = new Question();
        const again = nameToWire(nameToText(wire));
        expect(read(queryPacket(again, 1))).toBe(ReadResult.ok);
        read(queryPacket(wire, 1), question);
        expect(hashOf(questionOf(nameToText(wire), 1, KEY))).toBe(hashOf(question));
      }),
    );
  });

  it.each(['a..b', '.a', `${'a'.repeat(64)}.test`, `${'abcdefg.'.repeat(40)}test`, 'a\\', 'a\\999'])(
    'is rejected with a reason if it is not a domain name: %s',
    (text) => expect(() => nameToWire(text)).toThrow(/is not a domain name: /),
  );
});
