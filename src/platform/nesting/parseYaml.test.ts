import { expect, it } from 'vitest';
import { MAX_YAML_DEPTH, MAX_YAML_MEMBERS, NestingError, parseYaml } from './parseYaml.ts';

const KINDS: readonly [string, (depth: number) => string][] = [
  ['flow lists', (depth) => '['.repeat(depth) + ']'.repeat(depth)],
  ['unclosed flow lists', (depth) => `${'['.repeat(depth)}\n`],
  ['flow maps', (depth) => '{a: '.repeat(depth) + '}'.repeat(depth)],
  ['block lists', (depth) => `${'- '.repeat(depth)}x`],
  ['block maps', (depth) => Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ['keys of maps', (depth) => `${'? '.repeat(depth)}x`],
  [
    'aliases',
    (depth) =>
      `- &a1 []\n${Array.from({ length: depth - 2 }, (_, i) => `- &a${i + 2} [*a${i + 1}]`).join('\n')}`,
  ],
];

it.each(KINDS)('%s are read up to the maximum depth, and rejected above it', (_kind, textOf) => {
  expect(() => parseYaml(textOf(MAX_YAML_DEPTH))).not.toThrow();
  for (const depth of [MAX_YAML_DEPTH + 1, 3000])
    expect(() => parseYaml(textOf(depth))).toThrow(NestingError);
});

const MEMBERS: readonly [string, (count: number) => string][] = [
  ['a block map', (count) => Array.from({ length: count }, (_, i) => `k${i}: 1`).join('\n')],
  [
    'a block map in a list',
    (count) => `- ${Array.from({ length: count }, (_, i) => `k${i}: 1`).join('\n  ')}`,
  ],
  ['a flow map', (count) => `{${Array.from({ length: count }, (_, i) => `k${i}: 1`).join(', ')}}`],
  [
    'a flow map of keys alone',
    (count) => `[{${Array.from({ length: count }, (_, i) => `k${i}`).join(', ')}}]`,
  ],
  ['explicit keys', (count) => Array.from({ length: count }, (_, i) => `? k${i}\n: 1`).join('\n')],
];

it.each(MEMBERS)('%s is read up to the maximum number of members, and rejected above it', (_kind, textOf) => {
  expect(parseYaml(textOf(MAX_YAML_MEMBERS)).document.errors).toEqual([]);
  for (const count of [MAX_YAML_MEMBERS + 2, 60_000])
    expect(() => parseYaml(textOf(count))).toThrow(/a map has too many members/);
});

it('the error for deep nesting contains its line', () => {
  expect(() => parseYaml(`a: 1\nb: ${'['.repeat(100)}`)).toThrow(expect.objectContaining({ line: 2 }));
});

it('a long flat list is read', () => {
  const { document } = parseYaml(`[${'a,'.repeat(20_000)}]`);
  expect(document.errors).toEqual([]);
});
