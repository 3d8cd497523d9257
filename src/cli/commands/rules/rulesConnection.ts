import { type Command, InvalidArgumentError, Option } from 'commander';
import { RulesClient, Transport, type Wait } from '../../../rules/client/index.ts';
import { type RuleFormat, ruleFormat } from '../../../rules/index.ts';
import { OperatorError } from '../../operatorError.ts';
import { givenToken, TOKEN_FILE_VARIABLE } from '../access/clientToken.ts';
import { readCredentials } from '../access/credentials.ts';
import { readAccountId } from '../idArguments.ts';

const DEFAULT_URL = 'http://127.0.0.1:8420/client/v4';
const VERSION_PREFIX = '/client/v4';

export interface ServerFlags {
  readonly url: string;
  readonly tokenFile?: string;
}

interface ConnectionFlags extends ServerFlags {
  readonly account?: string;
  readonly family: 'network' | 'magic';
}

/** A server's rules API, and the token to send. */
export interface ServerAccess {
  readonly url: string;
  readonly token: string;
}

type ClientAccess = ServerAccess & { readonly account?: string };

/** A token as a server describes it. */
export interface CurrentToken {
  readonly id: string;
  readonly label?: string;
  readonly all_accounts: boolean;
  readonly accounts: readonly string[];
  /** Account that the guard in the server protects. */
  readonly guarded_account?: string;
}

/**
 * Adds flags for server and token file. The token has no flag: other users can see a process's flags. `otherwise` names
 * what the command uses without a URL and a login.
 */
export function addServerFlags(command: Command, otherwise = 'this machine'): Command {
  return command
    .addOption(
      new Option(
        '--url <url>',
        `base URL of the rules API; default: the URL of \`floodgate login\`, or ${otherwise}`,
      )
        .env('FLOODGATE_URL')
        .argParser(readUrl),
    )
    .addOption(
      new Option(
        '--token-file <file>',
        'file with the API token; overrides FLOODGATE_TOKEN and `floodgate login`',
      )
        .env(TOKEN_FILE_VARIABLE)
        .argParser(readFileName),
    );
}

export function addAccountFlag(command: Command): Command {
  return command.addOption(
    new Option('--account <id>', 'account id; needed only if the token has several accounts')
      .env('FLOODGATE_ACCOUNT')
      .argParser(readAccountId),
  );
}

/** Adds flags for server, account and token file. */
export function addConnectionFlags(command: Command): Command {
  return addAccountFlag(addServerFlags(command)).addOption(
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

/** Returns a client for the connection flags of a command. Asks the server for the account if none is given. */
export async function connect(
  command: Command,
  { fileAccount, format = ruleFormat, signal }: Subject = {},
): Promise<{ client: RulesClient; account: string }> {
  const { account: flagged, family } = command.opts<ConnectionFlags>();
  if (flagged !== undefined && fileAccount !== undefined && flagged !== fileAccount) {
    const source = command.getOptionValueSource('account') === 'env' ? 'FLOODGATE_ACCOUNT' : '--account';
    throw new OperatorError(`The file is for account ${fileAccount}, but ${source} is ${flagged}`);
  }
  const access = accessOf(command);
  const { url, token } = access;
  const accountId = flagged ?? fileAccount ?? (await defaultAccount(access));
  const client = new RulesClient({
    baseUrl: url,
    token,
    accountId,
    family,
    format,
    signal,
    onWait: printWait,
  });
  return { client, account: accountId };
}

/** Returns the URL of the flags, else of `floodgate login`, else of this machine. */
export const serverUrl = (command: Command): string =>
  command.opts<Partial<ServerFlags>>().url ?? readCredentials()?.url ?? DEFAULT_URL;

/**
 * Returns the URL and the token of a command: from flags, else from variables, else from `floodgate login`. A stored
 * token is used only for the URL that it was stored with.
 */
export function accessOf(command: Command): ClientAccess {
  const { url: flagged, tokenFile } = command.opts<Partial<ServerFlags>>();
  const given = givenToken(tokenFile);
  // A damaged file of `floodgate login` does not affect commands that do not need it.
  if (flagged !== undefined && given !== undefined) return { url: flagged, token: given };
  const stored = readCredentials();
  const url = flagged ?? stored?.url ?? DEFAULT_URL;
  if (given !== undefined) return { url, token: given };
  if (stored?.url === url) return stored;
  const other = stored === undefined ? '' : ` The token of \`floodgate login\` is for ${stored.url}.`;
  throw new OperatorError(
    `No API token for ${url}: use \`floodgate login\`, set FLOODGATE_TOKEN, or name a file with --token-file.${other} ` +
      '`floodgate token create` creates a token',
  );
}

/** Returns the account of a command that names none: of `floodgate login`, else of the token. */
export async function defaultAccount({ account, ...access }: ClientAccess): Promise<string> {
  const found = account ?? accountOf(await currentToken(access));
  if (found === undefined)
    throw new OperatorError(
      'The account is missing, and the token has access to several: use --account ID, or set FLOODGATE_ACCOUNT',
    );
  return found;
}

/** Requests the description of a token from its server. */
export async function currentToken({ url, token }: ServerAccess): Promise<CurrentToken> {
  const { envelope } = await new Transport({ baseUrl: url, token, onWait: printWait }).send(
    'GET',
    '/user/tokens/current',
  );
  if (typeof envelope === 'object' && envelope !== null && 'result' in envelope)
    return envelope.result as CurrentToken; // the format of this server's version
  throw new OperatorError(`The response is not from a Floodgate server; check the URL ${url}`);
}

/**
 * Returns the account of commands with a token: the given one, the only one, or the one that the server protects;
 * undefined if there are several. Throws `OperatorError` if the token has no access to the given one.
 */
export function accountOf(current: CurrentToken, given?: string): string | undefined {
  const { accounts, all_accounts: isAll, guarded_account: guarded } = current;
  if (given !== undefined && !isAll && !accounts.includes(given))
    throw new OperatorError(
      `The token has no access to account ${given}; it has access to ${accounts.join(', ')}`,
    );
  return given ?? (accounts.length === 1 ? accounts[0] : guarded);
}

/** Prints why a request waits. */
export function printWait({ seconds, status }: Wait): void {
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
