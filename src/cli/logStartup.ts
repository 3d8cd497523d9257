import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { type Config, unknownVariables } from '../config/index.ts';

/** Logs settings that an operator may not expect: the data folder, and variables without effect. */
export function logStartup({ dataDir }: Config, logger: Logger): void {
  for (const { variable, advice } of unknownVariables(process.env))
    logger.warn({ variable, advice }, 'environment variable ignored');
  logger.info({ dataDir: resolve(dataDir), isNew: !existsSync(dataDir) }, 'using the data folder');
}
