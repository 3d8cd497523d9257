import { expect, it } from 'vitest';
import { countText, etherText, weiOf } from './ether.ts';

it('shows wei as ETH to the last digit', () => {
  expect(etherText(0n)).toBe('0');
  expect(etherText(1n)).toBe('0.000000000000000001');
  expect(etherText(1_250_000_000_000_000_000n)).toBe('1.25');
  expect(etherText(1234567n * 10n ** 18n)).toBe('1,234,567');
  expect(etherText(2n ** 256n - 1n)).toBe(
    '115,792,089,237,316,195,423,570,985,008,687,907,853,269,984,665,640,564,039,457.584007913129639935',
  );
});

it('reads back what it shows, and nothing that is no number', () => {
  for (const wei of [0n, 1n, 10n ** 18n, 123456789012345678901n]) expect(weiOf(etherText(wei))).toBe(wei);
  expect(weiOf('.5')).toBe(5n * 10n ** 17n);
  for (const text of ['', '.', '1e3', '-1', '0x1', '1.0000000000000000001'])
    expect(weiOf(text)).toBeUndefined();
  expect(countText('0x3e8')).toBe('1,000');
});
