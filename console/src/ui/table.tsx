import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Value by which rows can be sorted. Numbers in a text are sorted by value. Default: the column cannot be sorted. */
  readonly sortKey?: (row: Row) => string | number;
}

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

export interface TableProps<Row> {
  /** Short description of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Returns whether a row is highlighted, such as the rule in force. */
  readonly isMarked?: (row: Row) => boolean;
  /**
   * Order of the rows, for {@link sortRows}. If it is set, titles of columns with a `sortKey` are buttons.
   */
  readonly sort?: { readonly by: string; readonly change: (by: string) => void };
  /**
   * Returns whether a row is visible. Hidden rows stay in the DOM, because rendering many rows delays key presses.
   */
  readonly isMatch?: (row: Row) => boolean;
}

/** Table that shows each row as a block in a narrow window, with the column titles before the cells. */
export function Table<Row>({ caption, columns, rows, keyOf, isMarked, isMatch, sort }: TableProps<Row>) {
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber, sortKey }) => (
            <th
              key={title}
              scope="col"
              class={isNumber ? 'number' : undefined}
              aria-sort={sort && orderOf(title, sort.by)}
            >
              {sort && sortKey ? <SortButton title={title} {...sort} /> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            class={isMarked?.(row) ? 'marked' : undefined}
            aria-hidden={isMatch?.(row) === false || undefined}
          >
            <Cells row={row} columns={columns} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function orderOf(title: string, by: string): 'ascending' | 'descending' | undefined {
  const name = title.toLowerCase();
  if (by === name) return 'ascending';
  return by === `-${name}` ? 'descending' : undefined;
}

interface SortButtonProps {
  readonly title: string;
  readonly by: string;
  readonly change: (by: string) => void;
}

function SortButton({ title, by, change }: SortButtonProps) {
  const name = title.toLowerCase();
  const order = orderOf(title, by);
  return (
    <button type="button" class="sort" onClick={() => change(order === 'ascending' ? `-${name}` : name)}>
      {title}
      <span aria-hidden="true">{order === undefined ? ' ↕' : order === 'ascending' ? ' ↑' : ' ↓'}</span>
    </button>
  );
}

interface CellsProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
}

/** Cells of a row, rendered only when its props or signals change. Rendering all rows would delay key presses. */
function Cells<Row>({ row, columns }: CellsProps<Row>) {
  return (
    <>
      {columns.map(({ title, cell, isNumber }) => (
        <td key={title} data-title={title} class={isNumber ? 'number' : undefined}>
          {cell(row)}
        </td>
      ))}
    </>
  );
}
