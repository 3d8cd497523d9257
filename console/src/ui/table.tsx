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
}

/** In a narrow window each row becomes a block, with the titles of the columns in front of the cells. */
export function Table<Row>({ caption, columns, rows, keyOf, isMarked }: TableProps<Row>) {
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
          <TableRow key={keyOf(row)} row={row} columns={columns} isMarked={isMarked?.(row) ?? false} />
        ))}
      </tbody>
    </table>
  );
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly isMarked: boolean;
}

/**
 * A component, so that a row whose cells read signals is drawn anew where one of them or of these members changes, and not with
 * every other row: with 500 of them that is what a key costs.
 */
function TableRow<Row>({ row, columns, isMarked }: TableRowProps<Row>) {
  return (
    <tr class={isMarked ? 'marked' : undefined}>
      {columns.map(({ title, cell, isNumber }) => (
        <td key={title} data-title={title} class={isNumber ? 'number' : undefined}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}
