import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Actor } from '../../rules/index.ts';
import type { RulesStorage } from '../../rules/store/lmdb/index.ts';
import { readConfig } from '../configFlags.ts';
import { needFolder } from '../needFolder.ts';

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
): Promise<T> {
  const { dataDir } = readConfig(command);
  needFolder(dataDir, 'rules');
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
