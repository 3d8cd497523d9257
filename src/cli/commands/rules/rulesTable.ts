import { colourCell, colourHeading } from '../../output/colour.ts';

/** Formats aligned columns for a terminal. Control characters become visible. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  const last = headings.length - 1;
  return lines
    .map((line, row) => {
      const cells = line.map((cell, column) => {
        const text = column === last ? cell : padded(cell, widths[column] ?? 0);
        return row === 0 ? colourHeading(text) : colourCell(text, cell);
      });
      return cells.join('  ').trimEnd();
    })
    .join('\n');
}

/** Replaces control characters, because text from a server could move the cursor or change colours. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\uFFFD');
}

/** Returns a timestamp of the API as text of a table in UTC: `2026-11-22 03:12:45`. */
export const momentOf = (timestamp: string): string => timestamp.slice(0, 19).replace('T', ' ');

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

function widthOf(cell: string): number {
  return [...cell].length;
}
