import { expect, it } from 'vitest';
import { MAX_YAML_DEPTH, NestingError, parseYaml } from './parseYaml.ts';

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

it('the error for deep nesting contains its line', () => {
  expect(() => parseYaml(`a: 1\nb: ${'['.repeat(100)}`)).toThrow(expect.objectContaining({ line: 2 }));
});

it('a long flat list is read', () => {
  const { document } = parseYaml(`[${'a,'.repeat(20_000)}]`);
  expect(document.errors).toEqual([]);
});
