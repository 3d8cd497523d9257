/** Characters with which a spreadsheet program recognises a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Returns rows as CSV (RFC 4180). Untrusted cells that a spreadsheet would run as formulas get a prefix `'`. */
export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');

function cellOf(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
