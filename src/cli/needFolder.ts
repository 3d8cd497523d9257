import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from './operatorError.ts';

/** Throws where a data folder has no store of a name: a command that made one would change what no server uses. */
export function needFolder(dataDir: string, store: 'rules' | 'gateway'): void {
  if (existsSync(join(dataDir, store))) return;
  const what = store === 'rules' ? 'rules and tokens' : 'keys of a gateway';
  throw new OperatorError(
    `${resolve(dataDir)} holds no ${what}; nothing was changed. Name the server's data folder with --data-dir or ` +
      'FLOODGATE_DATA_DIR. A new one is made by the first start of the server',
  );
}
