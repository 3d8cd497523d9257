import { encodeAbiParameters, stringToHex } from 'viem';
import { expect, it } from 'vitest';
import { symbolIn } from './symbol.ts';

const output = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);

it.each([
  ['a string', output('USDC'), 'USDC'],
  ['32 bytes', stringToHex('MKR', { size: 32 }), 'MKR'],
  ['a long string, in part', output('x'.repeat(40)), 'x'.repeat(32)],
  ['characters outside the basic plane, whole', output('🦄'.repeat(40)), '🦄'.repeat(32)],
  ['no text', output('  '), undefined],
  ['no output', '0x', undefined],
  ['other data', '0x1234', undefined],
])('reads the symbol of a token: %s', (_name, hex, symbol) => {
  expect(symbolIn(hex)).toBe(symbol);
});
