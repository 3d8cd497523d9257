import { expect, it } from 'vitest';
import { checkLogRange } from './logRange.ts';

it('eth_getLogs accepts a range of 800 blocks, and names the range to ask for if it is wider', () => {
  const check = (fromBlock?: string, toBlock?: string) => () => checkLogRange({ fromBlock, toBlock }, 800);
  for (const [from, to] of [
    ['0x1', '0x320'],
    ['0x5', '0x5'],
    ['0x1', 'latest'],
    ['earliest', '0x321'],
    [undefined, '0x1'],
  ])
    expect(check(from, to)).not.toThrow();
  expect(check('0x1', '0x321')).toThrow(
    /801 blocks.*Max range: 800\. Try with this block range \[0x1, 0x320\]/,
  );
  expect(check('0x2', '0x1')).toThrow('fromBlock 2 is after toBlock 1');
});
