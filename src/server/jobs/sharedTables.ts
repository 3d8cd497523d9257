import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { firstBlockOf } from '../../ethereum/traces/index.ts';
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

/** Reads all rows of the shared index, and yields the problems. Throws ConfigError, and IndexUnavailableError. */
export async function* verifySharedIndex(
  url: string,
  { record, progress }: VerifySharedIndexOptions,
): AsyncGenerator<string> {
  const { verifySharedTraces } = await import('../../ethereum/store/shared/index.ts');
  // A kill may have cut off the last line.
  const lines = record === undefined || !existsSync(record) ? '' : readFileSync(record, 'utf8');
  const done = new Set(lines.split('\n').slice(0, -1));
  try {
    yield* verifySharedTraces(url, {
      isVerified: ({ host, chain, segment }) => done.has(`${host} ${chain} ${segment}`),
      verified({ host, chain, segment }) {
        if (record !== undefined) appendFileSync(record, `${host} ${chain} ${segment}\n`);
        progress(`${host}: chain ${chain}: verified the blocks from ${firstBlockOf(segment)}`);
      },
    });
    if (record !== undefined) rmSync(record, { force: true });
  } catch (error) {
    asConfigError(error);
  }
}
