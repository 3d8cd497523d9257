import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Actor } from '../../rules/index.ts';
import type { RulesStorage } from '../../rules/store/lmdb/index.ts';
import { readConfig } from '../configFlags.ts';
import { OperatorError } from '../operatorError.ts';

/** The flags that name the data folder: commands on the machine itself open it beside the running server. */
export function addDataDirFlags(command: Command): Command {
  return command
    .option('--data-dir <folder>', 'data folder of the server (FLOODGATE_DATA_DIR)')
    .option('--config <file>', 'configuration file of the server (FLOODGATE_CONFIG)');
}

/** Opens the store in a data folder for one command, and closes it whatever happens. */
export async function withStorage<T>(
  command: Command,
  use: (storage: RulesStorage) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const { dataDir } = readConfig(command);
  if (!create && !existsSync(join(dataDir, 'rules')))
    throw new OperatorError(
      `${dataDir} holds no rules and tokens. Name the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const { openRulesStorage } = await import('../../rules/store/lmdb/index.ts');
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
