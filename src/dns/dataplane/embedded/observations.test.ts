import { expect, it } from 'vitest';
import { type Observation, Observations, observationsIn } from './observations.ts';

const made = (n: number): Observation => ({
  hashHigh: 0xffff_ffff - n,
  hashLow: n,
  type: 28,
  zone: n % 4097,
  rcode: n % 16,
  network: 0x8000_0000 + n,
});
const add = (observations: Observations, { zone, rcode, network, ...name }: Observation) =>
  observations.add(name, zone, rcode, network);

it('brings every answer to the judge as it was, in order', () => {
  const heard: Observation[] = [];
  const observations = new Observations((batch) => {
    heard.push(...observationsIn(batch));
    observations.heard();
  });
  const all = Array.from({ length: 1000 }, (_, n) => made(n));
  for (const one of all) add(observations, one);
  observations.flush();
  expect(heard).toEqual(all);
  expect(observations.lost).toBe(0);
});

it('loses and counts what a judge that does not listen has no room for, and goes on when it listens again', () => {
  let batches = 0;
  const observations = new Observations(() => batches++);
  for (let n = 0; n < 20_000; n++) add(observations, made(n));
  expect(batches).toBe(64);
  observations.flush();
  expect(observations.lost).toBe(20_000 - 64 * 256);
  observations.heard();
  add(observations, made(1));
  observations.flush();
  expect(batches).toBe(65);
});
