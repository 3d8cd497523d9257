import { expect, it } from 'vitest';
import { sortRows } from './sortRows.ts';
import type { Column } from './table.tsx';

interface Row {
  readonly name: string;
  readonly count: number;
}
const columns: readonly Column<Row>[] = [
  { title: 'Name', cell: ({ name }) => name, sortKey: ({ name }) => name },
  { title: 'Count', cell: ({ count }) => count, sortKey: ({ count }) => count },
  { title: 'Other', cell: () => '' },
];
const rows = [
  { name: 'pop10', count: 9 },
  { name: 'POP9', count: 10 },
  { name: 'pop-a', count: 1 },
];
const names = (sort: string) => sortRows(rows, columns, sort).map(({ name }) => name);

it('rows are sorted in natural order: numbers in a text by value, letters without case', () => {
  expect(names('name')).toEqual(['pop-a', 'POP9', 'pop10']);
  expect(names('-name')).toEqual(['pop10', 'POP9', 'pop-a']);
});

it('numbers are sorted by value', () => {
  expect(names('count')).toEqual(['pop-a', 'pop10', 'POP9']);
});

it('an unknown column changes no order', () => {
  for (const sort of ['', '-', 'other', 'nothing']) expect(sortRows(rows, columns, sort)).toBe(rows);
});
