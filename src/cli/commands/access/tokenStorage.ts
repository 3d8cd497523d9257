import { userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { QUIET } from '../../../platform/logging/index.ts';
import type { Actor, RulesStorage } from '../../../rules/index.ts';
import { openRules } from '../../../rules/store/index.ts';
import { readConfig } from '../../configFlags.ts';
import { requireStore } from '../../requireStore.ts';

/** Adds the flags of commands that open the data folder directly, even while the server runs. */
export function addDataDirFlags(command: Command): Command {
  return command
    .option('--data-dir <folder>', 'data folder of the server (FLOODGATE_DATA_DIR)')
    .option('--config <file>', 'configuration file of the server (FLOODGATE_CONFIG)');
}

/** Adds the flags of commands that read or change rules and tokens, which may be in PostgreSQL. */
export function addRulesStoreFlags(command: Command): Command {
  const store = new Option(
    '--rules-store <url>',
    'PostgreSQL with the rules of the server, if they are not in the data folder (FLOODGATE_RULES_STORE)',
  );
  store.attributeName = () => 'rules.store';
  return addDataDirFlags(command).addOption(store);
}

/** Opens the server's rules store for one command, and closes it even after an error. */
export async function withStorage<T>(
  command: Command,
  use: (storage: RulesStorage) => Promise<T>,
): Promise<T> {
  const { dataDir, rules } = readConfig(command);
  if (rules.store === undefined) requireStore(dataDir, 'rules');
  const storage = await openRules(
    { dataDir, url: rules.store, listenUrl: rules.storeListen },
    { log: QUIET },
  );
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

/** Returns the author of a change by this command: the user of the operating system. */
export function commandActor(): Actor {
  return { by: `cli:${userName()}`, from: 'local' };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user id may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
