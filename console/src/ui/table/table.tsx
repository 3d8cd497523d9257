import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Value by which rows can be sorted. Numbers in a text are sorted by value. Default: the column cannot be sorted. */
  readonly sortKey?: (row: Row) => string | number;
}

const matches = (query: string) => {
  const media = matchMedia(query);
  const found = signal(media.matches);
  media.addEventListener('change', () => {
    found.value = media.matches;
  });
  return found;
};
const isNarrow = matches('(max-width: 699px)');
const isMedium = matches('(max-width: 1199px)');

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
  /** Whether the columns need a wide window. */
  readonly isWide?: boolean;
}

/** Table that shows each row as a block in a narrow window, with the column titles before the cells. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, isMarked, isMatch, sort, isWide } = props;
  const isBlocks = (isWide ? isMedium : isNarrow).value;
  return (
    <table class={isBlocks ? 'cards' : undefined}>
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
