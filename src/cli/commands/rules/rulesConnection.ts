import { type Command, InvalidArgumentError, Option } from 'commander';
import { RulesClient, type Wait } from '../../../rules/client/index.ts';
import { type RuleFormat, ruleFormat } from '../../../rules/index.ts';
import { OperatorError } from '../../operatorError.ts';
import { readToken, TOKEN_FILE_VARIABLE } from '../access/clientToken.ts';
import { readAccountId } from '../idArguments.ts';

const DEFAULT_URL = 'http://127.0.0.1:8420/client/v4';
const VERSION_PREFIX = '/client/v4';

interface ConnectionOptions {
  readonly url: string;
  readonly tokenFile?: string;
  readonly account?: string;
  readonly family: 'network' | 'magic';
}

/** Adds flags for server, account and token file. The token has no flag: other users can see a process's flags. */
export function addConnectionFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'base URL of the rules API')
        .env('FLOODGATE_URL')
        .default(DEFAULT_URL)
        .argParser(readUrl),
    )
    .addOption(new Option('--account <id>', 'account id').env('FLOODGATE_ACCOUNT').argParser(readAccountId))
    .addOption(
      new Option('--token-file <file>', 'file with the API token; overrides FLOODGATE_TOKEN')
        .env(TOKEN_FILE_VARIABLE)
        .argParser(readFileName),
    )
    .addOption(
      new Option('--family <name>', 'API path of the server; magic for Cloudflare’s own API')
        .choices(['network', 'magic'])
        .default('network'),
    );
}

interface Subject {
  /** Account that the rules file names, if the command reads one. */
  readonly fileAccount?: string | undefined;
  readonly format?: RuleFormat;
  readonly signal?: AbortSignal;
}

/** Returns a client for the connection flags of a command. */
export function connect(
  command: Command,
  { fileAccount, format = ruleFormat, signal }: Subject = {},
): { client: RulesClient; account: string } {
  const { url, tokenFile, account: flagged, family } = command.opts<ConnectionOptions>();
  if (flagged !== undefined && fileAccount !== undefined && flagged !== fileAccount)
    throw new OperatorError(`The file is for account ${fileAccount}, but --account is ${flagged}`);
  const accountId = flagged ?? fileAccount;
  if (accountId === undefined)
    throw new OperatorError('The account is missing: use --account ID, or set FLOODGATE_ACCOUNT');
  const token = readToken(tokenFile);
  const client = new RulesClient({
    ...{ baseUrl: url, token, accountId, family, format, signal },
    onWait: printWait,
  });
  return { client, account: accountId };
}

function printWait({ seconds, status }: Wait): void {
  process.stderr.write(
    `waiting ${seconds} s as the server requested (HTTP ${status}, Retry-After); press Ctrl-C to stop\n`,
  );
}

function readFileName(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must be a file name.');
  return value;
}

function readUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '')
    throw new InvalidArgumentError(`It must be an http or https URL without a user, such as ${DEFAULT_URL}.`);
  // A URL without a path gets the path of the API.
  return url.pathname === '/' ? url.origin + VERSION_PREFIX : url.origin + url.pathname;
}
