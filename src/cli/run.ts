import { CommanderError } from 'commander';
import { EXIT_CODES } from './exitCodes.ts';
import { endWithReader, flushOutput } from './print.ts';
import { programFor } from './program.ts';

async function run(): Promise<void> {
  endWithReader();
  try {
    await (await programFor(process.argv[2])).parseAsync();
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
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  process.stderr.write(`floodgate: ${error instanceof Error ? error.message : error}\n`);
  if (!isOperators(error) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return error instanceof Error && /^(ConfigError|BadStoreAddress)$/.test(error.name)
    ? EXIT_CODES.usage
    : EXIT_CODES.failed;
}

/**
 * Errors that the operator mends: their message says all. By name, because importing their classes would load the whole
 * server for every small command.
 */
function isOperators(error: unknown): boolean {
  const names = [
    'BackupError',
    'BadStoreAddress',
    'ConfigError',
    'DataDirInUseError',
    'DataDirUnusableError',
    'ExportError',
    'IndexConflictError',
    'IndexingError',
    'InvalidIdError',
    'ListenError',
    'OperatorError',
    'BadProfileFile',
    'ProfileError',
    'StoreCopiedError',
    'StoreCopyError',
    'StoreFormatError',
    'StoreNotEmpty',
    'StoreUnavailable',
    'TooFewFilesError',
    'TooManyKeys',
    'TraceStoreUnavailable',
    'ApiFailure',
    'RuleFileError',
    'WrongChainError',
  ];
  return error instanceof Error && names.includes(error.name);
}

void run();
