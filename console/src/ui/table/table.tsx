import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { changeQuery } from '../../navigate.ts';
import { formatNumber } from '../value/quantity.tsx';
import { Time } from '../value/time.tsx';
import { sortRows } from './sortRows.ts';
import { useFirst } from './useFirst.tsx';

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
  media.addEventListener('change', () => (found.value = media.matches));
  return found;
};
const isNarrow = matches('(max-width: 699px)');
const isMedium = matches('(max-width: 1199px)');

export interface TableProps<Row> {
  /** Short description of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Default: the position of the row, so that new data changes rows in place and moves none. */
  readonly keyOf?: (row: Row) => string;
  readonly isMarked?: (row: Row) => boolean;
  /**
   * Default order of the rows, for {@link sortRows}. If it is set, titles of columns with a `sortKey` are buttons, and
   * the parameter `sort` of the URL is the order.
   */
  readonly sort?: string;
  readonly isMatch?: (row: Row) => boolean;
  /** Shown instead of the table if the search finds no row. */
  readonly noMatch?: ComponentChildren;
  /** Whether all rows are shown, because the user loads them page by page. Default: the first rows, and a button. */
  readonly isWhole?: boolean;
  readonly isWide?: boolean;
}

/** Table that shows each row as a block in a narrow window, with the column titles before the cells. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, isMarked, isMatch, noMatch, sort, isWide, isWhole } = props;
  const chosen = new URLSearchParams(useSearch()).get('sort');
  const by = sort === undefined ? '' : (chosen ?? sort);
  const sorted = useMemo(() => sortRows(rows, columns, by), [rows, columns, by]);
  const isBlocks = (isWide ? isMedium : isNarrow).value;
  const found = isMatch ? sorted.filter(isMatch) : sorted;
  const { first, showMore } = useFirst(found);
  const table = (
    <table class={isBlocks ? 'cards' : undefined}>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber, sortKey }) => (
            <th
              key={title}
              scope="col"
              class={isNumber ? 'number' : undefined}
              aria-sort={orderOf(title, by)}
            >
              {sort !== undefined && sortKey ? <SortButton title={title} by={by} /> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {(isWhole ? found : first).map((row, i) => (
          <tr key={keyOf?.(row) ?? i} class={isMarked?.(row) ? 'marked' : undefined}>
            <Cells row={row} columns={columns} />
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <>
      {found.length > 0 && table}
      {isMatch && (
        <p class="quiet" role="status">
          {found.length === 0
            ? noMatch
            : found.length < rows.length &&
              `${formatNumber(found.length)} of ${formatNumber(rows.length)} match`}
        </p>
      )}
      {!isWhole && showMore}
    </>
  );
}

function orderOf(title: string, by: string): 'ascending' | 'descending' | undefined {
  const name = title.toLowerCase();
  if (by === name) return 'ascending';
  return by === `-${name}` ? 'descending' : undefined;
}

function SortButton({ title, by }: { readonly title: string; readonly by: string }) {
  const name = title.toLowerCase();
  const order = orderOf(title, by);
  return (
    <button
      type="button"
      class="sort"
      onClick={() => changeQuery({ sort: order === 'ascending' ? `-${name}` : name })}
    >
      {title}
      <span aria-hidden="true">{order === undefined ? ' ↕' : order === 'ascending' ? ' ↑' : ' ↓'}</span>
    </button>
  );
}

/** Cells of a row, rendered only when its props or signals change. Rendering all rows would delay key presses. */
const Cells = <Row,>({ row, columns }: { readonly row: Row; readonly columns: readonly Column<Row>[] }) => (
  <>
    {columns.map(({ title, cell, isNumber }) => (
      <td key={title} data-title={title} class={isNumber ? 'number' : undefined}>
        {cell(row)}
      </td>
    ))}
  </>
);

export const timeColumn = <Row,>(title: string, at: (row: Row) => string, form?: 'clock'): Column<Row> => ({
  title,
  sortKey: at,
  cell: (row) => <Time at={at(row)} form={form ?? 'moment'} />,
});
