import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';

/** Recorded answers of public nodes: beside the checkout, never in it. */
const ROOT = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

/** One recorded exchange with a node. */
export interface Exchange {
  readonly file: string;
  readonly method: string;
  readonly params: readonly unknown[];
  /** Undefined where the node answered an error. */
  readonly result: unknown;
}

/** The JSON files under a folder of the recorded data whose name has this part; skips the test, saying why, where the folder is missing. */
export function recordedFiles(
  context: TestContext,
  folder: string,
  part = '',
): Array<{ file: string; json: unknown }> {
  if (!existsSync(ROOT + folder)) context.skip(`recorded data missing: ../shared/data/${folder}`);
  return readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && name.includes(part))
    .sort()
    .map((name) => ({
      file: `${folder}/${name}`,
      json: JSON.parse(readFileSync(`${ROOT}${folder}/${name}`, 'utf8')),
    }));
}

/** One recorded file, parsed; skips the test where it is missing. */
export function recordedFile(context: TestContext, file: string): unknown {
  if (!existsSync(ROOT + file)) context.skip(`recorded data missing: ../shared/data/${file}`);
  return JSON.parse(readFileSync(ROOT + file, 'utf8'));
}

/** The exchanges that erigontech/rpc-tests recorded for a method, or for one block of it. */
export function erigonExchanges(context: TestContext, method: string): Exchange[] {
  return recordedFiles(context, `erigontech-rpc-tests/mainnet/${method}`).flatMap(({ file, json }) =>
    // The recording's own format, which its README describes.
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
