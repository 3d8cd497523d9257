import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand to the right. */
  readonly isNumber?: boolean;
}

export interface TableProps<Row> {
  /** What is in the table, for who does not see where it stands. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** A row that stands out: the effective rule. */
  readonly isMarked?: (row: Row) => boolean;
  /** Whether a search finds a row: where not it stays, hidden, as to make hundreds anew takes longer than a key should. */
  readonly isFound?: (row: Row) => boolean;
}

/** In a narrow window each row becomes a block, with the titles of the columns in front of the cells. */
export function Table<Row>({ caption, columns, rows, keyOf, isMarked, isFound }: TableProps<Row>) {
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
            aria-hidden={isFound?.(row) === false || undefined}
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

/**
 * A component, so that cells that read signals are drawn anew where one of them or of these members changes, and not with
 * every other row: with 500 of them that is what a key costs.
 */
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
