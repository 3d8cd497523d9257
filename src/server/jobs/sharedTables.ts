import { appendFileSync, existsSync, lstatSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { ConfigError } from '../../config/index.ts';
import { firstBlockOf } from '../../ethereum/traces/index.ts';
import { requireRegular } from '../../platform/regularFile/index.ts';
import { asConfigError } from './openIndex.ts';

/** Creates the missing tables of the shared index. Throws ConfigError, and IndexUnavailableError. */
export async function migrateSharedIndex(url: string): Promise<void> {
  const { migrateSharedTraces } = await import('../../ethereum/store/shared/index.ts');
  await migrateSharedTraces(url).catch(asConfigError);
}

export interface VerifySharedIndexOptions {
  /**
   * File that lists verified segments, one a line, which are skipped. It is created if it is missing, and removed at the
   * end. Default: no file.
   */
  readonly record?: string | undefined;
  readonly progress: (text: string) => void;
}

/** Host, chain and segment. */
const RECORD_LINE = /^\S+ \d+ \d+$/;

/** Returns the lines of a record. Throws ConfigError for any other file, because records are removed at the end. */
function segmentsIn(record: string): ReadonlySet<string> {
  requireRegular(record, lstatSync(record));
  const text = readFileSync(record, 'utf8');
  const lines = text.split('\n').slice(0, -1);
  if ((text !== '' && lines.length === 0) || !lines.every((line) => RECORD_LINE.test(line)))
    throw new ConfigError(
      `--record is ${record}, which is not a list of verified segments: name a new file, or a list that this command has written`,
    );
  // A kill or a full disk may have cut off the last line, to which the next one would be appended.
  truncateSync(record, text.lastIndexOf('\n') + 1);
  return new Set(lines);
}

/** Reads all rows of the shared index, and yields the problems. Throws ConfigError, and IndexUnavailableError. */
export async function* verifySharedIndex(
  url: string,
  { record, progress }: VerifySharedIndexOptions,
): AsyncGenerator<string> {
  const { verifySharedTraces } = await import('../../ethereum/store/shared/index.ts');
  const done = record === undefined || !existsSync(record) ? new Set() : segmentsIn(record);
  try {
    yield* verifySharedTraces(url, {
      isVerified: ({ host, chain, segment }) => done.has(`${host} ${chain} ${segment}`),
      verified({ host, chain, segment }) {
        if (record !== undefined) appendFileSync(record, `${host} ${chain} ${segment}\n`);
        const last = firstBlockOf(segment + 1) - 1;
        progress(`${host}: chain ${chain}: verified blocks ${firstBlockOf(segment)} to ${last}`);
      },
      partiesRead({ host, chain, segment }, part) {
        const percent = Math.floor(100 * part);
        progress(
          `${host}: chain ${chain}: read ${percent} % of the rows by address from block ${firstBlockOf(segment)} on`,
        );
      },
    });
    if (record !== undefined) rmSync(record, { force: true });
  } catch (error) {
    asConfigError(error);
  }
}
