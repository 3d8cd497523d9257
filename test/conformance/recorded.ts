import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** Recorded answers of public nodes; test/fixtures/README.md lists their sources. */
const FIXTURES = new URL('../fixtures/', import.meta.url);

/** One recorded exchange with a node. */
export interface Exchange {
  readonly file: string;
  readonly method: string;
  readonly params: readonly unknown[];
  /** Undefined if the node returned an error. */
  readonly result: unknown;
}

/** A recorded file with its name at the source. */
interface RecordedFile {
  readonly file: string;
  readonly json: unknown;
}

/** Returns the recorded files of a fixture whose names contain `part`. */
export function recordedFiles(fixture: string, part = ''): RecordedFile[] {
  const packed = readFileSync(new URL(`${fixture}.jsonl.br`, FIXTURES));
  return brotliDecompressSync(packed)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedFile) // as test/fixtures/record.js writes them
    .filter(({ file }) => file.includes(part));
}

/** Returns the only recorded file of a fixture whose name contains `part`. */
export function recordedFile(fixture: string, part: string): unknown {
  const [found, ...others] = recordedFiles(fixture, part);
  if (found === undefined || others.length > 0)
    throw new Error(`${part} does not match exactly one file of ${fixture}`);
  return found.json;
}

/** Returns the exchanges that erigontech/rpc-tests recorded for a method. */
export function erigonExchanges(method: string): Exchange[] {
  return recordedFiles(`erigontech-rpc-tests/mainnet/${method}`).flatMap(exchangesIn);
}

/** Recordings that are too large for the repository. They exist only on some machines. */
const SHARED = new URL('../../../shared/data/erigontech-rpc-tests/mainnet/', import.meta.url);

/** Returns the exchanges of a folder of SHARED; an empty list if it does not exist. */
export function sharedExchanges(folder: string): Exchange[] {
  const place = new URL(`${folder}/`, SHARED);
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .sort()
    .map((file) => ({ file, json: JSON.parse(readFileSync(new URL(file, place), 'utf8')) as unknown }))
    .flatMap(exchangesIn);
}

/** Returns the exchanges of a file in the recording's own format, without the envelope. */
function exchangesIn({ file, json }: RecordedFile): Exchange[] {
  const exchanges = json as Array<{
    readonly request: Omit<Exchange, 'file' | 'result'>;
    readonly response: { readonly result?: unknown };
  }>;
  return exchanges.map(({ request, response }) => ({
    file,
    method: request.method,
    params: request.params,
    result: response.result,
  }));
}

/** Returns a deep copy with every object's keys in alphabetical order, the canonical order of a trace. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sortedKeys(member)]),
  );
}
