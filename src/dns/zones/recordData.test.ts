import { describe, expect, it } from 'vitest';
import { MasterFileError, readMasterFile } from './masterFile.ts';
import { recordData } from './recordData.ts';

const dataOf = (line: string): string => {
  const [record] = readMasterFile(`@ ${line}\n`, 'example.test');
  if (record === undefined) throw new Error(`no record: ${line}`);
  return Buffer.from(recordData(record)).toString('hex');
};
const ORIGIN = '076578616d706c65047465737400';

describe('the data of a record', () => {
  it.each([
    ['A 192.0.2.80', 'c0000250'],
    ['AAAA 2001:db8::80', '20010db8000000000000000000000080'],
    ['AAAA ::', '00000000000000000000000000000000'],
    ['AAAA 1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['AAAA ::1', '00000000000000000000000000000001'],
    ['AAAA 2001:DB8:1::', '20010db8000100000000000000000000'],
    ['TXT "a; b" c\\"d', '04613b20620363' + '2264'],
    ['TXT ""', '00'],
    ['TXT a\\032b\\"c \\255', '05' + '6120622263' + '01ff'],
    ['TXT é', '02c3a9'],
    ['CNAME é\\.a.', '04c3a92e61' + '00'],
    ['CNAME a\\\\.', '02615c00'],
    ['CAA 0 issue a\\032b', '00056973737565612062'],
    ['A \\# 4 c000 0250', 'c0000250'],
    ['MX 10 mail', `000a046d61696c${ORIGIN}`],
    ['SRV 1 2 443 @', `0001000201bb${ORIGIN}`],
    ['CAA 128 issue "ca.test"', '8005697373756563612e74657374'],
    [
      'SOA ns1 first\\.last ( 1 2 3 4 5 )',
      `036e7331${ORIGIN}0a66697273742e6c617374${ORIGIN}${[1, 2, 3, 4, 5].map((n) => n.toString(16).padStart(8, '0')).join('')}`,
    ],
    ['TYPE65534 \\# 3 0102ff', '0102ff'],
    ['TYPE65534 \\# 0', ''],
    ['TYPE2 \\# 3 016100', '016100'],
    ['TYPE15 \\# 3 000a00', '000a00'],
    ['TXT \\# 4 01610162', '01610162'],
    ['TYPE257 \\# 3 000161', '000161'],
    [`TYPE6 \\# 22 ${'00'.repeat(22)}`, '00'.repeat(22)],
  ])('%s', (line, data) => {
    expect(dataOf(line)).toBe(data);
  });

  it.each([
    'A 1.2.3',
    'A ::1',
    'AAAA 192.0.2.1',
    'AAAA ::ffff:192.0.2.1',
    'AAAA fe80::1%lo',
    'MX ten mail',
    'MX 10',
    `TXT ${'x'.repeat(256)}`,
    'TXT',
    'TXT a\\',
    'TXT a\\12',
    'TXT a\\256',
    'A 192.0.2.1 192.0.2.2',
    'CNAME a..b',
    'NS a\\12b',
    'MX 10 mail more',
    'TYPE1 \\# 4 c00002',
    'TYPE1 \\# 4 c00002zz',
    'TYPE1 \\# c0000250',
    // Data of a known type must have the format of that type.
    'TYPE1 \\# 3 c00002',
    'TYPE6 \\# 3 0a0b0c',
    `TYPE6 \\# 23 ${'00'.repeat(23)}`,
    'TYPE2 \\# 2 0161',
    'TYPE2 \\# 2 c00c',
    'NS \\# 0',
    `CNAME \\# 257 ${'013100'.slice(0, 4).repeat(128)}00`,
    'TXT \\# 0',
    'TXT \\# 3 016102',
    'TYPE257 \\# 2 0002',
    '2147483648 A 192.0.2.1',
    '4000w A 192.0.2.1',
  ])('%s is rejected with its line', (line) => {
    expect(() => dataOf(line)).toThrow(MasterFileError);
  });

  it('is rejected above 65,535 octets', () => {
    const texts = Array(300).fill('x'.repeat(255)).join(' ');
    expect(() => dataOf(`TXT ${texts}`)).toThrow(/the data has 76800 octets; the maximum is 65535/);
  });
});
