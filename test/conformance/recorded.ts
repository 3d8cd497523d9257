import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** Recorded answers of public nodes: test/fixtures/README.md names their sources. */
const FIXTURES = new URL('../fixtures/', import.meta.url);

/** One recorded exchange with a node. */
export interface Exchange {
  readonly file: string;
  readonly method: string;
  readonly params: readonly unknown[];
  /** Undefined where the node answered an error. */
  readonly result: unknown;
}

/** A recorded file, under its name at the source. */
interface RecordedFile {
  readonly file: string;
  readonly json: unknown;
}

/** The recorded files of a fixture whose name has this part. */
export function recordedFiles(fixture: string, part = ''): RecordedFile[] {
  const packed = readFileSync(new URL(`${fixture}.jsonl.br`, FIXTURES));
  return brotliDecompressSync(packed)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedFile) // what scripts/fixtures.js writes
    .filter(({ file }) => file.includes(part));
}

/** The only recorded file of a fixture whose name has this part. */
export function recordedFile(fixture: string, part: string): unknown {
  const [found, ...others] = recordedFiles(fixture, part);
  if (found === undefined || others.length > 0) throw new Error(`${part} is not one file of ${fixture}`);
  return found.json;
}

/** The exchanges that erigontech/rpc-tests recorded for a method. */
export function erigonExchanges(method: string): Exchange[] {
  return recordedFiles(`erigontech-rpc-tests/mainnet/${method}`).flatMap(({ file, json }) =>
    // The recording's own format, without the envelope.
    (json as Array<{ request: Omit<Exchange, 'file' | 'result'>; response: { result?: unknown } }>).map(
      ({ request, response }) => ({
        file,
        method: request.method,
        params: request.params,
        result: response.result,
      }),
    ),
  );
}

/** A deep copy with every object's keys in alphabetical order: the canonical order of a trace. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sortedKeys(member)]),
  );
}
