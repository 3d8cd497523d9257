import { expect, it } from 'vitest';
import { formatEther, formatQuantity, parseEther } from './ether.ts';

it('etherText formats wei as ETH without rounding', () => {
  expect(formatEther(0n)).toBe('0');
  expect(formatEther(1n)).toBe('0.000000000000000001');
  expect(formatEther(1_250_000_000_000_000_000n)).toBe('1.25');
  expect(formatEther(1234567n * 10n ** 18n)).toBe('1,234,567');
  expect(formatEther(2n ** 256n - 1n)).toBe(
    '115,792,089,237,316,195,423,570,985,008,687,907,853,269,984,665,640,564,039,457.584007913129639935',
  );
});

it('weiOf parses the output of etherText, and rejects text that is not a decimal number', () => {
  for (const wei of [0n, 1n, 10n ** 18n, 123456789012345678901n])
    expect(parseEther(formatEther(wei))).toBe(wei);
  expect(parseEther('.5')).toBe(5n * 10n ** 17n);
  // In many languages, `0,5` is a half.
  for (const text of ['', '.', '1e3', '-1', '0x1', '0,5', '1,0000', ',100', '1.0000000000000000001'])
    expect(parseEther(text), text).toBeUndefined();
  expect(formatQuantity('0x3e8')).toBe('1,000');
});
