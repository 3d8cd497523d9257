import { expect, test } from 'vitest';
import type { Address } from '../ethereum/traces/index.ts';
import { ACTOR, constructing, deploying, program } from './actor.ts';

const TARGET = `0x${'ab'.repeat(20)}` as Address; // 20 bytes of lower-case hex

test('an action is forty bytes and its data', () => {
  const inner = program({ kind: 'stop' });
  expect(program({ kind: 'call', target: TARGET, value: 258n, gas: 65_535, data: inner })).toBe(
    `0x${['01', '00', 'ab'.repeat(20), '0000ffff', '000028', '0000000000000000000102', inner.slice(2)].join('')}`,
  );
});

test('a contract can mean itself, and the one that it created last', () => {
  expect(program({ kind: 'call', target: 'self' }).slice(2, 6)).toBe('0101');
  expect(program({ kind: 'call', target: 'created' }).slice(2, 6)).toBe('0102');
});

test('a value that an action has no room for is refused, not cut', () => {
  expect(() => program({ kind: 'call', target: TARGET, value: 2n ** 88n })).toThrow(/does not fit/);
  expect(() => program({ kind: 'call', target: TARGET, gas: 2 ** 32 })).toThrow(/does not fit/);
});

test('init code is the contract and the program that it carries out', () => {
  expect(constructing({ kind: 'stop' })).toBe(ACTOR + program({ kind: 'stop' }).slice(2));
  expect(deploying()).toBe(constructing({ kind: 'become' }));
});
