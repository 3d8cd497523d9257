import { expect, it } from 'vitest';
import { mutantsOf } from './mutants.js';

/** Returns the sources with one mutant each. */
const mutated = (source) =>
  mutantsOf(source).map(({ start, end, text }) => source.slice(0, start) + text + source.slice(end));

it.each([
  ['a comparison', 'const a = b <= c;', ['const a = b < c;']],
  ['a logical operator', 'const a = b && c;', ['const a = b || c;']],
  ['a default', 'const a = b ?? c;', ['const a = b;']],
  ['an arithmetic operator', 'const a = (b) + c;', ['const a = (b) - c;']],
  ['a negation', 'const a = !b;', ['const a =  b;']],
  ['a number', 'const a = 0x0f;', ['const a = 16;']],
  ['a boolean', 'const a = true;', ['const a = false;']],
  ['a statement', 'a();', [';']],
  ['an assignment', 'a += b;', [';', 'a -= b;']],
  ['a count', 'a++;', [';', 'a--;']],
  ['an await', 'await a();', [';', ' a();']],
  ['a condition', 'const a = b ? c : d;', ['const a = !(b) ? c : d;']],
  ['a return value', 'function a() { return b; }', ['function a() { return undefined; }']],
])('changes %s', (_, source, mutants) => {
  expect(mutated(source)).toEqual(mutants);
});

it.each([
  ['types', 'type A = 1 | 2; let a: B<0>; interface C { d: -1 }'],
  ['imports', "import { a } from './a.ts'; export * from './b.ts';"],
  ['texts', "const a = 'b' + c;"],
  ['a return without value', 'function a() { return; }'],
  ['a call of the constructor above', 'class A extends B { constructor() { super(); } }'],
])('does not change %s', (_, source) => {
  expect(mutated(source)).toEqual([]);
});

it('changes expressions with types', () => {
  expect(mutated('const a = (b as number) < (c satisfies number);')).toHaveLength(1);
  expect(mutated('const a: number = b! > c;')).toEqual(['const a: number = b! >= c;']);
});
