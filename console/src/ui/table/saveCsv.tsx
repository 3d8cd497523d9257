import { csvOf, saveFile } from './csv.ts';

interface SaveCsvProps {
  /** Name of the file without its extension. */
  readonly name: string;
  /** Rows of the file; the first one has the titles. */
  readonly rows: () => Parameters<typeof csvOf>[0];
  readonly label?: string;
  readonly isEmpty?: boolean;
}

/** Button that saves a table as a CSV file. */
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
