import { expect, it } from 'vitest';
import { decodeLearnedAnswers, type LearnedAnswer, LearnedAnswerQueue } from './learnedAnswers.ts';

const made = (n: number): LearnedAnswer => ({
  hashHigh: 0xffff_ffff - n,
  hashLow: n,
  type: 28,
  zone: n % 4097,
  kind: n % 19,
  network: 0x8000_0000 + n,
  isAllowed: n % 3 === 0,
});
const add = (
  learnedAnswers: LearnedAnswerQueue,
  { zone, kind, network, isAllowed, ...name }: LearnedAnswer,
) => learnedAnswers.add(zone, name, kind, network, isAllowed);

it('learned answers reach the detector unchanged and in order', () => {
  const heard: LearnedAnswer[] = [];
  const learnedAnswers = new LearnedAnswerQueue((batch) => {
    heard.push(...decodeLearnedAnswers(batch));
    learnedAnswers.acknowledge();
  });
  const all = Array.from({ length: 1000 }, (_, n) => made(n));
  for (const one of all) add(learnedAnswers, one);
  learnedAnswers.flush();
  expect(heard).toEqual(all);
  expect(learnedAnswers.lost).toBe(0);
});

it('learned answers are discarded and counted while the detector is busy, and sent again afterwards', () => {
  let batches = 0;
  const learnedAnswers = new LearnedAnswerQueue(() => batches++);
  for (let n = 0; n < 20_000; n++) add(learnedAnswers, made(n));
  expect(batches).toBe(64);
  learnedAnswers.flush();
  expect(learnedAnswers.lost).toBe(20_000 - 64 * 256);
  learnedAnswers.acknowledge();
  add(learnedAnswers, made(1));
  learnedAnswers.flush();
  expect(batches).toBe(65);
});
