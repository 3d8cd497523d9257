import { expect, it } from 'vitest';
import { Rate } from './rate.ts';

it('Rate averages the events of the last minute and ignores older ones', () => {
  let seconds = 1000.5;
  const rate = new Rate(() => seconds * 1000);
  expect(rate.perSecond()).toBe(0);
  rate.add(30);
  seconds += 10;
  rate.add(30);
  expect(rate.perSecond()).toBe(1);
  seconds += 49;
  expect(rate.perSecond()).toBe(1);
  seconds += 1;
  expect(rate.perSecond()).toBe(0.5);
  seconds += 3600;
  expect(rate.perSecond()).toBe(0);
  rate.add(6);
  expect(rate.perSecond()).toBe(0.1);
});
