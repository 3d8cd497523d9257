import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { readConfig } from '../configFlags.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { addDataDirFlags } from './tokenStorage.ts';

interface VerifyFlags {
  readonly json?: boolean;
  readonly inProcess?: string;
  readonly store?: string;
}

/** `floodgate backup DIR`: a copy of all stores, while the server runs. */
export function registerBackup(program: Command): void {
  const command = program
    .command('backup')
    .description(
      'copy all stores of the data folder, each whole, into a new folder; the server may be running',
    )
    .argument('<folder>', 'where to; it must be empty or not exist');
  addDataDirFlags(command).action(async (target: string) => {
    const { backupData } = await import('../../server/index.ts');
    const stores = await backupData(readConfig(command).dataDir, resolve(target));
    await print(`Copied ${stores.join(', ')} into ${target}.`);
  });
}

/** `floodgate restore DIR`: a backup into an empty data folder. */
export function registerRestore(program: Command): void {
  const command = program
    .command('restore')
    .description('verify a backup and put it into a data folder that has no stores; no server may run on it')
    .argument('<folder>', 'what `floodgate backup` made');
  addDataDirFlags(command).action(async (backup: string) => {
    const { restoreData } = await import('../../server/index.ts');
    const { dataDir } = readConfig(command);
    const stores = await restoreData(resolve(backup), dataDir, verifyInChild);
    await print(`Restored ${stores.join(', ')} into ${dataDir}.`);
  });
}

/** `floodgate verify`: whether the stores are whole; a copy that is may be opened from then on. */
export function registerVerify(program: Command): void {
  const command = program
    .command('verify')
    .description(
      'read all stores of the data folder and check them: structure, counts, chain, audit against rules. A copy of a data ' +
        'folder is opened by the server only after this has passed',
    )
    .option('--json', 'print a JSON object a line')
    .addOption(new Option('--in-process <folder>').hideHelp())
    .addOption(new Option('--store <name>').hideHelp());
  addDataDirFlags(command).action(async () => {
    const { inProcess, store, json } = command.opts<VerifyFlags>();
    if (inProcess !== undefined && store !== undefined) return verifyHere(inProcess, store);
    const { verifyData } = await import('../../server/index.ts');
    const { dataDir } = readConfig(command);
    const problems = await verifyData(dataDir, verifyInChild);
    for (const [name, found] of problems) {
      const line = found.length === 0 ? `${name}: whole` : `${name}: damaged: ${found.join('; ')}`;
      await print(json ? JSON.stringify({ store: name, problems: found }) : line);
    }
    if ([...problems.values()].some((found) => found.length > 0))
      throw new OperatorError(
        `${dataDir} is damaged. Restore a backup, or remove what can be made again: traces, gateway (but for API keys), dns`,
      );
  });
}

async function verifyHere(folder: string, store: string): Promise<void> {
  const { verifyStore } = await import('../../server/index.ts');
  const problems = await verifyStore(folder, store, (line) => process.stderr.write(`${line}\n`));
  await print(JSON.stringify(problems));
}

/** Verifies a store in a process of its own: reading a torn file may end it. */
async function verifyInChild(folder: string, store: string): Promise<readonly string[]> {
  const args = ['verify', '--in-process', folder, '--store', store];
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [written, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) return [`reading it ended the process (${signal ?? `exit code ${code}`}): it is torn`];
  return JSON.parse(written) as string[]; // verifyHere wrote it
}
