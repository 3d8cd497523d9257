import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { readConfig } from '../configFlags.ts';
import { OperatorError, UsageError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { addDataDirFlags } from './access/tokenStorage.ts';

interface VerifyFlags {
  readonly json?: boolean;
  readonly inProcess?: string;
  readonly store?: string;
  readonly share?: string;
  readonly record?: string;
  readonly sharedIndex?: string | true;
}

function sharedIndexFlag(): Option {
  const flag = new Option(
    '--trace-store [url]',
    'check all rows of the shared index instead; default of the URL: FLOODGATE_TRACE_STORE',
  );
  flag.attributeName = () => 'sharedIndex';
  return flag;
}

/** `floodgate backup DIR`: copies all stores, even while the server runs. */
export function registerBackup(program: Command): void {
  const command = program
    .command('backup')
    .description(
      'copy a snapshot of each store of the data folder into a new folder; the server may be running',
    )
    .argument('<folder>', 'target folder; it must be empty or not exist');
  addDataDirFlags(command).action(async (target: string) => {
    const { backupData } = await import('../../server/index.ts');
    const stores = await backupData(readConfig(command).dataDir, resolve(target));
    await print(`Copied ${stores.join(', ')} into ${target}.`);
  });
}

/** `floodgate restore DIR`: copies a backup into a data folder without stores. */
export function registerRestore(program: Command): void {
  const command = program
    .command('restore')
    .description(
      'copy a backup into a data folder without stores, and check its SHA-256; no server may use the folder',
    )
    .argument('<folder>', 'folder created by `floodgate backup`');
  addDataDirFlags(command).action(async (backup: string) => {
    const { isTraceStore, restoreData } = await import('../../server/index.ts');
    const { dataDir } = readConfig(command);
    const stores = await restoreData(resolve(backup), dataDir, verifyInChild);
    await print(`Restored ${stores.join(', ')} into ${dataDir}.`);
    if (stores.some(isTraceStore))
      await print(
        `A server can use it now. To check every block, also while the server runs: floodgate verify --data-dir ${dataDir}`,
      );
  });
}

/** `floodgate verify`: checks all stores. A server opens a copied store only after the store has passed the check. */
export function registerVerify(program: Command): void {
  const command = program
    .command('verify')
    .description(
      'check all stores of the data folder: structure, counts, chain, audit against rules. A server opens a copied ' +
        'data folder only after it has passed this check',
    )
    .option('--json', 'print one JSON object per line')
    .addOption(sharedIndexFlag())
    .addOption(new Option('--in-process <folder>').hideHelp())
    .addOption(new Option('--store <name>').hideHelp())
    .addOption(new Option('--share <share>').hideHelp())
    .option(
      '--record <file>',
      'with --trace-store: list verified segments in this file, and skip those that it lists; the file is removed at the end',
    );
  addDataDirFlags(command).action(async () => {
    const { inProcess, store, json, share, record, sharedIndex } = command.opts<VerifyFlags>();
    if (inProcess !== undefined && store !== undefined)
      return verifyInProcess(inProcess, store, { share, record });
    if (sharedIndex !== undefined)
      return verifyShared(sharedIndex === true ? readConfig(command).traceStore : sharedIndex, {
        json,
        record,
      });
    if (record !== undefined)
      throw new UsageError(
        '--record needs --trace-store: otherwise, progress is recorded in the data folder',
      );
    const { verifyData } = await import('../../server/index.ts');
    const { dataDir } = readConfig(command);
    const problems = await verifyData(dataDir, verifyInChild);
    for (const [name, found] of problems) {
      const line = found.length === 0 ? `${name}: whole` : `${name}: failed: ${found.join('; ')}`;
      await print(json ? JSON.stringify({ store: name, problems: found }) : line);
    }
    if ([...problems.values()].some((found) => found.length > 0))
      throw new OperatorError(
        `${dataDir} did not pass the check. Follow the advice in the lines above, if any. Otherwise repair an index with ` +
          'floodgate index --again RANGE --upstream URL, restore a backup, or remove the stores that can be rebuilt: ' +
          'traces, gateway (except API keys), dns',
      );
  });
}

async function verifyShared(
  url: string | undefined,
  { json, record }: { json: boolean | undefined; record: string | undefined },
): Promise<void> {
  if (url === undefined)
    throw new UsageError('The shared index is missing: use --trace-store URL, or set FLOODGATE_TRACE_STORE');
  const { verifySharedIndex } = await import('../../server/index.ts');
  let problems = 0;
  const progress = (line: string) => void process.stderr.write(`${line}\n`);
  for await (const problem of verifySharedIndex(url, { record, progress })) {
    problems++;
    await print(json ? JSON.stringify({ problem }) : problem);
  }
  if (problems > 0)
    throw new OperatorError(
      'The shared index is damaged. Write the damaged blocks again: floodgate index --to-store --again RANGE --upstream URL',
    );
  if (!json) await print('The shared index is whole.');
}

async function verifyInProcess(
  folder: string,
  store: string,
  { share = '0/1', record }: { share: string | undefined; record: string | undefined },
): Promise<void> {
  const { verifyStore } = await import('../../server/index.ts');
  const [index = 0, processes = 1] = share.split('/').map(Number);
  const progress = (line: string) => void process.stderr.write(`${line}\n`);
  await print(
    JSON.stringify(await verifyStore(folder, store, { share: { index, processes }, record, progress })),
  );
}

/**
 * Checks a store in child processes, because reading a torn LMDB file may crash the process. Trace indexes are divided
 * among as many processes as there are cores.
 */
async function verifyInChild(folder: string, store: string, record?: string): Promise<readonly string[]> {
  const { isTraceStore } = await import('../../server/index.ts');
  const processes = isTraceStore(store) ? availableParallelism() : 1;
  const found = await Promise.all(
    Array.from({ length: processes }, (_, index) =>
      verifyShare(folder, [
        '--store',
        store,
        '--share',
        `${index}/${processes}`,
        ...(record === undefined ? [] : ['--record', record]),
      ]),
    ),
  );
  return [...new Set(found.flat())];
}

/** Signals that another process sends; SIGKILL also comes from the system if the memory is exhausted. */
const ENDED_BY_OTHERS: readonly unknown[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

async function verifyShare(folder: string, flags: readonly string[]): Promise<readonly string[]> {
  const args = ['verify', '--in-process', folder, ...flags];
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [written, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (ENDED_BY_OTHERS.includes(signal))
    throw new OperatorError(
      `the process that checks ${folder} was ended by ${signal}, perhaps because the memory is exhausted: run the same command again`,
    );
  if (code !== 0)
    return [`reading it crashed the process (${signal ?? `exit code ${code}`}): the file is torn`];
  return JSON.parse(written) as string[]; // printed by verifyInProcess
}
