import { expect, test } from 'vitest';
import { assemble, at, jump, label, op, push } from './assemble.ts';

test('operands are pushed last to first, so that the first is on top of the stack', () => {
  expect(assemble([op('MSTORE', { offset: 0x20, value: 0x1234 })])).toBe('0x611234602052');
});

test('an instruction without operands uses the values on the stack', () => {
  expect(assemble([push(1), op('POP')])).toBe('0x600150');
});

test('a number is pushed with as few bytes as possible', () => {
  expect(assemble([push(0), push(0n), push(255), push(256), push(2n ** 256n - 1n)])).toBe(
    `0x5f5f60ff6101007f${'ff'.repeat(32)}`,
  );
});

test('labels can be used before and after their definition', () => {
  expect(assemble([label('a'), jump('b'), at('a'), label('b')])).toBe('0x5b6100085661000' + '05b');
});

test('a missing or duplicate label is named in the error', () => {
  expect(() => assemble([jump('nowhere')])).toThrow(/nowhere/);
  expect(() => assemble([label('here'), label('here')])).toThrow(/here/);
});
