import type { Column } from './table.tsx';

const natural = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Returns rows in the order of a column, such as `mode` or, in descending order, `-mode`. Other texts sort nothing. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string,
): readonly Row[] {
  const { sortKey } = columns.find(({ title }) => title.toLowerCase() === sort.replace('-', '')) ?? {};
  if (sortKey === undefined) return rows;
  const sorted = rows.toSorted((one, other) => {
    const [first, second] = [sortKey(one), sortKey(other)];
    return typeof first === 'number' && typeof second === 'number'
      ? first - second
      : natural.compare(String(first), String(second));
  });
  return sort.startsWith('-') ? sorted.reverse() : sorted;
}
