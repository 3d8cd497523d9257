import { userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { QUIET } from '../../platform/logging/index.ts';
import type { Actor, RulesStorage } from '../../rules/index.ts';
import { openRules } from '../../rules/store/index.ts';
import { readConfig } from '../configFlags.ts';
import { needFolder } from '../needFolder.ts';

/** The flags that name the data folder: commands on the machine itself open it beside the running server. */
export function addDataDirFlags(command: Command): Command {
  return command
    .option('--data-dir <folder>', 'data folder of the server (FLOODGATE_DATA_DIR)')
    .option('--config <file>', 'configuration file of the server (FLOODGATE_CONFIG)');
}

/** The same for commands about rules and tokens, which may be kept elsewhere. */
export function addRulesStoreFlags(command: Command): Command {
  const store = new Option(
    '--rules-store <url>',
    'PostgreSQL with the rules of the server, where it has them there (FLOODGATE_RULES_STORE)',
  );
  store.attributeName = () => 'rules.store';
  return addDataDirFlags(command).addOption(store);
}

/** Opens the store of the server for one command, and closes it whatever happens. */
export async function withStorage<T>(
  command: Command,
  use: (storage: RulesStorage) => Promise<T>,
): Promise<T> {
  const { dataDir, rules } = readConfig(command);
  if (rules.store === undefined) needFolder(dataDir, 'rules');
  const storage = await openRules({ dataDir, url: rules.store }, { log: QUIET });
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
