import type { Logger } from 'pino';
import type { Config } from '../../config/index.ts';
import type { Opened } from '../roles.ts';
import { checkWorkers, reloaded } from './workerConfig.ts';
import type { Workers } from './workers.ts';

export interface ReloadWorkersOptions {
  /** What the server was started with, */
  readonly before: Config;
  /** and what is configured now. */
  readonly now: Config;
  readonly opened: Opened;
  readonly logger: Logger;
}

/** Puts workers in place that go by what is configured now. Rejects, with those that there are left, where that cannot be. */
export async function reloadWorkers(
  workers: Workers,
  { before, now, opened, logger }: ReloadWorkersOptions,
): Promise<void> {
  const { config, kept } = reloaded(before, now);
  checkWorkers(config, workers.count, opened);
  if (kept.length > 0)
    logger.warn({ options: kept }, 'these options were changed and need a restart: they stay as they were');
  await workers.reload(config);
}
