import { Judge } from '../../src/dns/judge.ts';
import { nameToWire } from '../../src/dns/wire/name.ts';
import { QueryType, typeBit } from '../../src/dns/wire/queryTypes.ts';
import { Question, readQuery } from '../../src/dns/wire/question.ts';
import { queryPacket, questionOf } from '../../src/dns/wire/questionOf.ts';

const KEY = { high: 0x9e3779b1, low: 0x7f4a7c15 };
const NAMES = 1_000_000;
const QUERIES = 4_000_000;
const PACKETS = 200_000;

export interface VerdictFigures {
  /** Nanoseconds from the bytes of a packet to the verdict. */
  readonly knownNs: number;
  readonly unknownNs: number;
  readonly malformedNs: number;
  readonly bytesPerName: number;
}

/** How long reading a question and deciding about it takes, with a million names known, at `very_high`. */
export function benchVerdict(): VerdictFigures {
  const nowMs = Date.now();
  const judge = new Judge(KEY, { profile: { maxNames: NAMES } }, nowMs);
  const zone = judge.zones.add('example.test');
  if (zone !== undefined) judge.noteSeeded(zone);
  judge.setRule(
    {
      id: 'bench',
      scope: 'global',
      name: 'global',
      mode: 'enabled',
      profile_sensitivity: 'very_high',
      rate_sensitivity: 'medium',
      burst_sensitivity: 'medium',
      created_on: '2026-11-20T10:00:00.000000+00:00',
      modified_on: '2026-11-20T10:00:00.000000+00:00',
    },
    nowMs,
  );
  for (let n = 0; n < NAMES; n++) {
    const question = questionOf(`h${n}.example.test`, QueryType.A, KEY);
    judge.profile.seed(question.hashHigh, question.hashLow, typeBit(QueryType.A), nowMs);
  }
  const packet = (name: string, cut = 0) => {
    const bytes = queryPacket(nameToWire(name), QueryType.A);
    return bytes.subarray(0, bytes.length - cut);
  };
  const numbers = Array.from({ length: PACKETS }, (_, n) => n);
  const known = numbers.map((n) => packet(`h${(n * 7919) % NAMES}.example.test`));
  const unknown = numbers.map((n) => packet(`x${(n * 7919).toString(36)}q.example.test`));
  const malformed = numbers.map((n) => packet(`h${n}.example.test`, 5));
  const run = (packets: readonly Uint8Array[]) => measure(judge, packets, nowMs);
  run(known);
  return {
    knownNs: run(known),
    unknownNs: run(unknown),
    malformedNs: run(malformed),
    bytesPerName: judge.profile.bytes / judge.profile.size,
  };
}

function measure(judge: Judge, packets: readonly Uint8Array[], startMs: number): number {
  const question = new Question();
  const started = process.hrtime.bigint();
  for (let i = 0; i < QUERIES; i++) {
    const packet = packets[i % PACKETS] ?? new Uint8Array();
    if (readQuery(packet, packet.length, KEY, question) === 0) judge.decide(question, startMs + i / 100);
  }
  return Number(process.hrtime.bigint() - started) / QUERIES;
}
