import { type Command, InvalidArgumentError, Option } from 'commander';
import { RulesClient, type Wait } from '../../rules/client/index.ts';
import { type RuleFormat, ruleFormat } from '../../rules/index.ts';
import { OperatorError } from '../operatorError.ts';
import { readToken, TOKEN_FILE_VARIABLE } from './clientToken.ts';
import { readAccountId } from './idArguments.ts';

const DEFAULT_URL = 'http://127.0.0.1:8420/client/v4';
const VERSION_PREFIX = '/client/v4';

interface ConnectionOptions {
  readonly url: string;
  readonly tokenFile?: string;
  readonly account?: string;
  readonly family: 'network' | 'magic';
}

/** The flags that say which rules of which server, and as whom. A token is never a flag: other users see flags. */
export function addConnectionFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'base URL of the rules API')
        .env('FLOODGATE_URL')
        .default(DEFAULT_URL)
        .argParser(readUrl),
    )
    .addOption(new Option('--account <id>', 'account').env('FLOODGATE_ACCOUNT').argParser(readAccountId))
    .addOption(
      new Option('--token-file <file>', 'file with the API token, in place of the variable FLOODGATE_TOKEN')
        .env(TOKEN_FILE_VARIABLE)
        .argParser(readFileName),
    )
    .addOption(
      new Option('--family <name>', 'path that the server has; magic for Cloudflare’s own')
        .choices(['network', 'magic'])
        .default('network'),
    );
}

interface Subject {
  /** The account that a file of rules names. */
  readonly fileAccount?: string | undefined;
  /** The fields that rules have. */
  readonly format?: RuleFormat;
  /** Ends waiting for the server. */
  readonly signal?: AbortSignal;
}

/** The client that the flags of a command describe. */
export function connect(
  command: Command,
  { fileAccount, format = ruleFormat, signal }: Subject = {},
): { client: RulesClient; account: string } {
  const { url, tokenFile, account: flagged, family } = command.opts<ConnectionOptions>();
  if (flagged !== undefined && fileAccount !== undefined && flagged !== fileAccount)
    throw new OperatorError(`The file is for account ${fileAccount}, but --account says ${flagged}`);
  const accountId = flagged ?? fileAccount;
  if (accountId === undefined)
    throw new OperatorError('Which account? Say --account ID, or set FLOODGATE_ACCOUNT');
  const token = readToken(tokenFile);
  const client = new RulesClient({
    ...{ baseUrl: url, token, accountId, family, format, signal },
    onWait: tellWait,
  });
  return { client, account: accountId };
}

function tellWait({ seconds, status }: Wait): void {
  process.stderr.write(
    `waiting ${seconds} s, as the server asks (HTTP ${status}, Retry-After); Ctrl-C ends it\n`,
  );
}

function readFileName(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must name a file.');
  return value;
}

function readUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '')
    throw new InvalidArgumentError(`It must be an http or https URL without a user, such as ${DEFAULT_URL}.`);
  // Naming only the server is enough.
  return url.pathname === '/' ? url.origin + VERSION_PREFIX : url.origin + url.pathname;
}
