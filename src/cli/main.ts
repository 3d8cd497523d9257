#!/usr/bin/env node
import './heapLimits.ts';
import './compileCache.ts';
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { endWithReader, flushOutput } from './print.ts';

/** Wrong usage or configuration, as against a failure while running (1). */
const EXIT_CODE_USAGE = 64;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('floodgate')
  .description(
    'Keeps floods off the servers behind it: DNS servers by protection rules with a REST API, Ethereum nodes by a ' +
      'JSON-RPC gateway that answers trace_filter from its own index.',
  )
  .version(version)
  .showHelpAfterError('Add --help to see what there is.')
  .exitOverride()
  .addHelpText(
    'after',
    '\nEvery option can be set in floodgate.yaml, in a variable or on the command line; the later of these wins.\n' +
      "`floodgate COMMAND --help` shows a command's options with their names, defaults and allowed values.",
  );

/** In the order in which the help lists them. A command loads what it needs and no other: half of a small one's time. */
const COMMANDS: ReadonlyMap<string, () => Promise<(program: Command) => void>> = new Map([
  ['start', async () => (await import('./commands/start.ts')).registerStart],
  ['dev', async () => (await import('./commands/dev.ts')).registerDev],
  ['doctor', async () => (await import('./commands/doctor.ts')).registerDoctor],
  ['export', async () => (await import('./commands/exportTraces.ts')).registerExport],
  ['index', async () => (await import('./commands/indexBlocks.ts')).registerIndex],
  ['nodes', async () => (await import('./commands/nodes.ts')).registerNodes],
  ['rules', async () => (await import('./commands/rules.ts')).registerRules],
  ['token', async () => (await import('./commands/token.ts')).registerToken],
  ['audit', async () => (await import('./commands/audit.ts')).registerAudit],
  ['backup', async () => (await import('./commands/dataCopies.ts')).registerBackup],
  ['restore', async () => (await import('./commands/dataCopies.ts')).registerRestore],
  ['verify', async () => (await import('./commands/dataCopies.ts')).registerVerify],
  ['key', async () => (await import('./commands/key.ts')).registerKey],
  ['dns', async () => (await import('./commands/dns.ts')).registerDns],
]);

/** What the first word needs: its own command; none for the version; all for help, and for a word that is misspelt. */
function commandsFor(word: string | undefined): Iterable<() => Promise<(program: Command) => void>> {
  if (word === '--version' || word === '-V') return [];
  const named = COMMANDS.get(word ?? '');
  return named === undefined ? COMMANDS.values() : [named];
}

async function run(): Promise<void> {
  for (const load of commandsFor(process.argv[2])) (await load())(program);
  endWithReader();
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = tell(error);
  }
  await flushOutput();
  // What is still open (a stuck socket, a timer of a library) must not keep a stopped program alive.
  process.exit();
}

/** Says what went wrong; the exit code for it. */
function tell(error: unknown): number {
  // The command line's own reader has said all already; showing help is no failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODE_USAGE;
  process.stderr.write(`floodgate: ${error instanceof Error ? error.message : error}\n`);
  if (!isOperators(error) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return error instanceof Error && error.name === 'ConfigError' ? EXIT_CODE_USAGE : 1;
}

/**
 * Errors that the operator mends: their message says all. By name, because importing their classes would load the whole
 * server for every small command.
 */
function isOperators(error: unknown): boolean {
  const names = [
    'BackupError',
    'ConfigError',
    'DataDirInUseError',
    'DataDirUnusableError',
    'ExportError',
    'IndexConflictError',
    'IndexingError',
    'InvalidIdError',
    'ListenError',
    'OperatorError',
    'StoreCopiedError',
    'StoreFormatError',
    'StoreUnavailable',
    'TooFewFilesError',
    'ApiFailure',
    'RuleFileError',
    'WrongChainError',
  ];
  return error instanceof Error && names.includes(error.name);
}

void run();
