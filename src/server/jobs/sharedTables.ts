import { asConfigError } from './openIndex.ts';

/** Creates the missing tables of the shared index. Throws ConfigError, and IndexUnavailableError. */
export async function migrateSharedIndex(url: string): Promise<void> {
  const { migrateSharedTraces } = await import('../../ethereum/store/shared/index.ts');
  await migrateSharedTraces(url).catch(asConfigError);
}

/** Reads all rows of the shared index, and yields the problems. Throws ConfigError, and IndexUnavailableError. */
export async function* verifySharedIndex(
  url: string,
  progress: (text: string) => void,
): AsyncGenerator<string> {
  const { verifySharedTraces } = await import('../../ethereum/store/shared/index.ts');
  try {
    yield* verifySharedTraces(url, (chain, block) =>
      progress(`chain ${chain}: verified up to block ${block}`),
    );
  } catch (error) {
    asConfigError(error);
  }
}
