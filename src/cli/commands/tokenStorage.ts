import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import type { Actor } from '../../rules/index.ts';
import { openRulesStorage, type RulesStorage } from '../../storage/lmdb/rulesStorage.ts';

/** Where tokens and audit are kept: commands on the machine itself open the folder beside the running server. */
export function dataDirOption(): Option {
  return new Option('--data-dir <folder>', 'folder with the data of the server')
    .env('FLOODGATE_DATA_DIR')
    .default('floodgate-data');
}

/** Opens the store in a data folder for one command, and closes it whatever happens. */
export async function withStorage<T>(
  dataDir: string,
  use: (storage: RulesStorage) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  if (!create && !existsSync(join(dataDir, 'rules')))
    throw new Error(
      `${dataDir} holds no rules and tokens. Name the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const storage = openRulesStorage(dataDir);
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

/** Who changes something by a command: the user of the operating system. */
export function commandActor(): Actor {
  return { by: `cli:${userName()}`, from: 'local' };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no name belongs to.
    return String(process.getuid?.() ?? 'unknown');
  }
}
