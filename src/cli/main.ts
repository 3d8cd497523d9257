#!/usr/bin/env node
import './heapLimits.ts';
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/index.ts';
import { registerAudit } from './commands/audit.ts';
import { registerDev } from './commands/dev.ts';
import { registerDns } from './commands/dns.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerExport } from './commands/exportTraces.ts';
import { registerIndex } from './commands/indexBlocks.ts';
import { registerKey } from './commands/key.ts';
import { registerRules } from './commands/rules.ts';
import { registerStart } from './commands/start.ts';
import { registerToken } from './commands/token.ts';
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
    '\nEvery option can stand in floodgate.yaml, in a variable or on the command line, in rising order.\n' +
      "`floodgate COMMAND --help` shows a command's options with their names, defaults and allowed values.",
  );

registerStart(program);
registerDev(program);
registerDoctor(program);
registerExport(program);
registerIndex(program);
registerRules(program);
registerToken(program);
registerAudit(program);
registerKey(program);
registerDns(program);

endWithReader();
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = tell(error);
}
await flushOutput();
// What is still open (a stuck socket, a timer of a library) must not keep a stopped program alive.
process.exit();

/** Says what went wrong; the exit code for it. */
function tell(error: unknown): number {
  // The command line's own reader has said all already; showing help is no failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODE_USAGE;
  process.stderr.write(`floodgate: ${error instanceof Error ? error.message : error}\n`);
  if (!isOperators(error) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return error instanceof ConfigError ? EXIT_CODE_USAGE : 1;
}

/**
 * Errors that the operator mends: their message says all. By name, because importing their classes would load the whole
 * server for every small command.
 */
function isOperators(error: unknown): boolean {
  const names = [
    'ConfigError',
    'DataDirInUseError',
    'DataDirUnusableError',
    'ExportError',
    'IndexConflictError',
    'IndexingError',
    'ListenError',
    'OperatorError',
    'StoreUnavailable',
    'ApiFailure',
    'RuleFileError',
    'WrongChainError',
  ];
  return error instanceof Error && names.includes(error.name);
}
