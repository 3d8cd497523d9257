import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from './operatorError.ts';

/** Throws OperatorError if the data folder lacks the store: opening it would create one that no server uses. */
export function requireStore(dataDir: string, store: 'rules' | 'gateway'): void {
  if (existsSync(join(dataDir, store))) return;
  const what = store === 'rules' ? 'rules and tokens' : 'keys of a gateway';
  throw new OperatorError(
    `${resolve(dataDir)} contains no ${what}; nothing was changed. Set the data folder of the server with --data-dir or ` +
      'FLOODGATE_DATA_DIR, or use the API of a running server with --url or `floodgate login`',
  );
}
