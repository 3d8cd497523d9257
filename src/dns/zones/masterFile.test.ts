import { expect, it } from 'vitest';
import { nameToText } from '../protocol/index.ts';
import { readMasterFile } from './masterFile.ts';

const recordsOf = (text: string): string[] =>
  [...readMasterFile(text, 'example.test')].map(({ owner, type }) => `${nameToText(owner)} ${type}`);

it.each([
  'APL 1:192.0.2.0/24',
  'IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==',
  'KEY 256 3 5 AQNRU3mG',
  'NSAP-PTR a.',
  'L64 10 2001:0db8:1140:1000',
  'AMTRELAY 10 0 1 203.0.113.15',
  'WALLET "ETH" "0x00"',
  'ALIAS a.example.net.',
  'LUA A "ifportup(443, {})"',
  'TYPE65280 \\# 0',
])('a zone file may contain the record %s', (record) => {
  const type = record.split(' ', 1)[0];
  expect(recordsOf(`x ${record}\ny 60 CLASS1 ${record}\nz A 192.0.2.1\n`)).toEqual([
    `x.example.test ${type}`,
    `y.example.test ${type}`,
    'z.example.test A',
  ]);
});

it('an owner that is indented by mistake is an error, not a type', () => {
  expect(() => recordsOf('x A 192.0.2.1\n  www A 192.0.2.2\n')).toThrow(
    'zone file, line 2: "WWW" is not a TTL, class or record type',
  );
});

it.each([
  ['an unclosed quotation', (length: number) => 'x TXT "'.padEnd(length, 'a')],
  ['escapes', (length: number) => 'x TXT "'.padEnd(length - 1, '\\a').concat('"')],
  ['a long word', (length: number) => 'x TXT '.padEnd(length, 'a')],
])('a line with %s has a maximum length', (_, lineOf) => {
  expect(recordsOf(lineOf(1024 * 1024))).toEqual(['x.example.test TXT']);
  expect(() => recordsOf(`y A 192.0.2.1\n${lineOf(20_000_000)}`)).toThrow(
    'zone file, line 2: the line has 20000000 characters; allowed: at most 1048576',
  );
});

it('an error quotes at most 1,000 characters of a word', () => {
  expect(() => recordsOf(`x ${'a'.repeat(5000)}`)).toThrow(/^zone file, line 1: "A{999}…$/);
});

it("a file in BIND's format raw is an error that names the format", () => {
  const raw = '\0\0\0\x02\0\0\0\x01i\xf0\0\0\0\0\0\x01\0\0\0\0\0\x07example\x04test\0';
  expect(() => recordsOf(raw)).toThrow(
    "zone file, line 1: the line has a NUL byte; allowed: text. Convert a file in BIND's format raw with named-compilezone -f raw",
  );
});
