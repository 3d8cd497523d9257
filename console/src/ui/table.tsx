import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
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
   * Returns whether a row is visible. Hidden rows stay in the DOM, because rendering many rows delays key presses.
   */
  readonly isMatch?: (row: Row) => boolean;
}

/** Table that shows each row as a block in a narrow window, with the column titles before the cells. */
export function Table<Row>({ caption, columns, rows, keyOf, isMarked, isMatch }: TableProps<Row>) {
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber }) => (
            <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
              {title}
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
