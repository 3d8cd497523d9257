type Cell = string | number | null;

/**
 * Returns rows as CSV (RFC 4180). A text that a spreadsheet could run as a formula starts with an apostrophe, because
 * names in queries are chosen by attackers.
 */
export const csvOf = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');

function cellText(cell: Cell): string {
  const text = String(cell ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

interface SaveCsvProps {
  readonly name: string;
  /** Rows of the file; the first one has the titles. */
  readonly rows: () => Parameters<typeof csvOf>[0];
  readonly label?: string;
  readonly isEmpty?: boolean;
}

export const SaveCsv = ({ name, rows, label = 'Save as CSV', isEmpty }: SaveCsvProps) => (
  <button
    type="button"
    class="copy"
    disabled={isEmpty}
    onClick={() => saveFile(`${name}.csv`, csvOf(rows()))}
  >
    {label}
  </button>
);
