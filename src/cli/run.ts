import { CommanderError } from 'commander';
import { inBackground } from '../platform/background/index.ts';
import { exitBetweenCommits } from '../platform/exit/index.ts';
import { EXIT_CODES } from './exitCodes.ts';
import { exitOnClosedPipe, flushOutput } from './output/print.ts';
import { programFor } from './program.ts';

async function run(): Promise<void> {
  exitOnClosedPipe();
  try {
    await (await programFor(process.argv[2])).parseAsync();
  } catch (error) {
    process.exitCode = printError(error);
  }
  await flushOutput();
  // A stuck socket or a library's timer must not keep a finished program alive.
  await exitBetweenCommits();
}

function printError(error: unknown): number {
  // Commander has already printed its message. Showing help is not a failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  process.stderr.write(`floodgate: ${printableLines(messageOf(error))}\n`);
  if (!isOperatorError(error) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return error instanceof Error && /^(ConfigError|BadStoreAddress|UsageError)$/.test(error.name)
    ? EXIT_CODES.usage
    : EXIT_CODES.failed;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isDenied = 'syscall' in error && 'path' in error && 'code' in error && error.code === 'EACCES';
  return isDenied ? `${error.message}. Run the command as the user who owns the file` : error.message;
}

/** Replaces control characters, because a message can contain the text of a server or a node. */
const printableLines = (text: string): string => text.replaceAll(/[^\P{C}\n\t]/gu, '\uFFFD');

/**
 * Returns true if only the message of an error is to be printed, without the stack. Compares names, because importing
 * the classes would load the whole server for each small command.
 */
function isOperatorError(error: unknown): boolean {
  const names = [
    'BackupError',
    'FileKindError',
    'BadStoreAddress',
    'ConfigError',
    'DataDirInUseError',
    'DataDirUnusableError',
    'ExportError',
    'IndexConflictError',
    'ImportError',
    'IndexingError',
    'InvalidIdError',
    'ListenError',
    'OperatorError',
    'BadProfileFile',
    'ProfileError',
    'StoreCopiedError',
    'StoreDamagedError',
    'StoreFormatError',
    'StoreNotEmpty',
    'StoreUnavailable',
    'StoreWriteError',
    'TooFewFilesError',
    'TooManyKeys',
    'TraceStoreUnavailable',
    'UnprovenRead',
    'UsageError',
    'ApiFailure',
    'RuleFileError',
    'WrongChainError',
  ];
  return error instanceof Error && (names.includes(error.name) || isSystemError(error));
}

/** Errors of the system name the reason, for example that a folder does not exist or that the disk is full. */
const isSystemError = (error: Error): boolean => 'syscall' in error;

function exitWithError(error: unknown): void {
  inBackground('exit', () => exitBetweenCommits(printError(error)));
}

process.on('uncaughtException', exitWithError);
run().catch(exitWithError);
