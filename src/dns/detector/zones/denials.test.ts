import { expect, it } from 'vitest';
import { AnswerKind } from '../../protocol/index.ts';
import { Denials } from './denials.ts';

const STORED = {
  name: 'example.test',
  unknownShare: 0.2,
  nxdomainShare: 0.2,
  unknownPerSecond: 0,
  ratePerSecond: 0,
  learnedSeconds: 0,
  positiveAnswers: 0,
  onceOnlyAnswers: 0,
};

function noted(answers: {
  readonly nxdomain?: number;
  readonly noData?: number;
  readonly records?: number;
}): Denials {
  const denials = new Denials();
  for (let i = 0; i < (answers.nxdomain ?? 0); i++) denials.note(AnswerKind.nxdomain);
  for (let i = 0; i < (answers.noData ?? 0); i++) denials.note(AnswerKind.noData);
  for (let i = 0; i < (answers.records ?? 0); i++) denials.noteNew();
  return denials;
}

it('NODATA proves a name after 20 NXDOMAIN answers that are at least a quarter as many as the NODATA answers', () => {
  expect(noted({ nxdomain: 19 }).noDataProves).toBe(false);
  expect(noted({ nxdomain: 20 }).noDataProves).toBe(true);
  expect(noted({ nxdomain: 20, noData: 80 }).noDataProves).toBe(true);
  expect(noted({ nxdomain: 20, noData: 81 }).noDataProves).toBe(false);
});

it('NODATA proves nothing after one NODATA answer that denies the name', () => {
  const denials = noted({ nxdomain: 20 });
  denials.note(AnswerKind.denial);
  expect(denials.noDataProves).toBe(false);
});

it('a zone denies unknown names if 95 % of at least 20 answers for new names are NXDOMAIN', () => {
  expect(noted({ nxdomain: 19, records: 1 }).deniesUnknown(false)).toBe(true);
  expect(noted({ nxdomain: 18, records: 2 }).deniesUnknown(true)).toBe(false);
  expect(noted({ nxdomain: 18, noData: 2 }).deniesUnknown(true)).toBe(false);
});

it('a zone with fewer answers for new names denies them if it was seeded', () => {
  for (const isSeeded of [true, false]) {
    expect(noted({ records: 19 }).deniesUnknown(isSeeded)).toBe(isSeeded);
    expect(noted({ nxdomain: 19 }).deniesUnknown(isSeeded)).toBe(isSeeded);
  }
});

it('all three counters are halved above 10,000 answers', () => {
  const denials = noted({ nxdomain: 6000, noData: 3000, records: 1000 });
  expect(denials).toMatchObject({ nxdomains: 6000, noDatas: 3000, positives: 1000 });
  denials.note(AnswerKind.nxdomain);
  expect(denials).toMatchObject({ nxdomains: 3000.5, noDatas: 1500, positives: 500 });
});

it('a stored zone without these members has counted nothing, so its NODATA answers count once there is proof', () => {
  const denials = noted({ nxdomain: 50, noData: 7, records: 3 });
  denials.byNoData = true;
  denials.restore(STORED);
  expect(denials).toMatchObject({ byNoData: false, nxdomains: 0, noDatas: 0, positives: 0 });
  for (let i = 0; i < 20; i++) denials.note(AnswerKind.nxdomain);
  expect(denials.noDataProves).toBe(true);
});

it('a stored zone keeps its counts', () => {
  const denials = new Denials();
  denials.restore({ ...STORED, deniesByNoData: true, nxdomains: 30, noDatas: 2, positives: 1 });
  expect(denials).toMatchObject({ byNoData: true, nxdomains: 30, noDatas: 2, positives: 1 });
});
