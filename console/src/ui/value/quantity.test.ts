import { expect, it } from 'vitest';
import { formatPercent } from './quantity.tsx';

it.each([
  [0, '0 %'],
  [0.0004, '< 0.1 %'],
  [0.042, '4.2 %'],
  [0.9649, '96 %'],
  [0.9896, '98.9 %'],
  [0.99, '99 %'],
  [0.9998, '99.98 %'],
  [0.99999, '> 99.99 %'],
  [1, '100 %'],
])('formats %d as %s', (share, text) => {
  expect(formatPercent(share)).toBe(text);
});
