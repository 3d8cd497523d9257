import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { type Config, strayVariables } from '../config/index.ts';

/** Says what a start goes by and an operator may have meant otherwise: the data folder, and variables that set nothing. */
export function tellStart({ dataDir }: Config, logger: Logger): void {
  for (const { variable, advice } of strayVariables(process.env))
    logger.warn({ variable, advice }, 'a variable of the environment is ignored');
  logger.info({ dataDir: resolve(dataDir), isNew: !existsSync(dataDir) }, 'using the data folder');
}
