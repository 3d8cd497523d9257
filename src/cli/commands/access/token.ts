import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  formatTimestamp,
  hashSecret,
  isTokenId,
  type NewToken,
  newTokenSecret,
  operatorPermissions,
  ordinaryPermissions,
  type Permission,
  permissions,
  type TokenView,
  TooManyTokens,
  tokenView,
  wallClock,
} from '../../../rules/index.ts';
import { OperatorError, UsageError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import { readAccountId } from '../idArguments.ts';
import { formatTable, momentOf, printable } from '../rules/rulesTable.ts';
import { addAccessFlags, OperatorApi } from './overApi.ts';
import { commandActor, withStorage } from './tokenStorage.ts';
import { readMoment } from './tokenTime.ts';

interface CreateOptions {
  readonly account?: string[];
  readonly allAccounts?: boolean;
  readonly permission: Permission[];
  readonly expires?: string;
  readonly label: string;
  readonly json?: boolean;
}

interface ListOptions {
  readonly json?: boolean;
}

const DEFAULT_PERMISSIONS: Permission[] = [...ordinaryPermissions];

/** `floodgate token create|list|revoke`: opens the store of the rules directly, even while a server runs, or uses the API. */
export function registerToken(program: Command): void {
  const token = program.command('token').description('create, list and revoke API tokens of the rules API');

  const create = token
    .command('create')
    .description('create a token and print it; it cannot be shown again')
    .addOption(
      new Option('--account <id...>', 'accounts that the token may access').argParser(collectAccount),
    )
    .addOption(new Option('--all-accounts', 'the token may access all accounts').conflicts('account'))
    .addOption(
      new Option(
        '--permission <name...>',
        'read, write, audit, tokens:read, tokens:write, and with --all-accounts nodes:read, nodes:write, health:read, keys:read, keys:write; write includes read',
      )
        .argParser(collectPermission)
        .default(DEFAULT_PERMISSIONS, 'read and write'),
    )
    .option('--expires <when>', 'expiry: a duration (90d, 12h) or a date (2027-01-31); default: never')
    .option('--label <text>', 'label of the token, such as its purpose', '')
    .option('--json', 'print a JSON object')
    .action(createToken);
  addAccessFlags(create);

  const list = token
    .command('list')
    .description('list all tokens, without their secrets')
    .option('--json', 'print one JSON object per line')
    .action(listTokens);
  addAccessFlags(list);

  const revoke = token
    .command('revoke')
    .description('revoke tokens by id, and the tokens that they created; takes effect at once')
    .argument('<id...>', 'ids from `floodgate token list`', collectTokenId)
    .action(revokeTokens);
  addAccessFlags(revoke);
}

async function createToken(options: CreateOptions, command: Command): Promise<void> {
  const accounts: NewToken['accounts'] | undefined = options.allAccounts ? 'all' : options.account;
  if (!accounts)
    throw new UsageError('The accounts of the token are missing: use --account ID or --all-accounts');
  const now = wallClock();
  const expires_on = options.expires === undefined ? null : readMoment(options.expires, now, 'future');
  if (expires_on !== null && expires_on <= formatTimestamp(now))
    throw new UsageError(`--expires ${options.expires} is in the past; the token would never work`);

  const fields = { label: options.label, accounts, permissions: options.permission, expires_on };
  const api = OperatorApi.of(command);
  const { secret, token } = api ? await createOverApi(api, fields) : await createInStore(command, fields);
  if (options.json) return print(JSON.stringify({ ...token, token: secret }));
  // Only the secret goes to standard output, so that a script can read it.
  process.stderr.write(
    `Token ${token.id}: accounts ${accountsOf(token)}, ${token.permissions.join(' ')}, expires ${token.expires_on ?? 'never'}.\n` +
      'The token cannot be shown again; store it so that only its user can read it:\n',
  );
  await print(secret);
}

type Fields = Omit<NewToken, 'hash'>;

interface CreatedToken {
  readonly token: TokenView;
  readonly secret: string;
}

async function createInStore(command: Command, fields: Fields): Promise<CreatedToken> {
  const secret = newTokenSecret();
  const hash = hashSecret(secret).toString('hex');
  const token = await withStorage(command, ({ tokens }) =>
    tokens.create({ ...fields, hash }, commandActor()),
  ).catch((error) => {
    throw error instanceof TooManyTokens ? new OperatorError(error.message) : error;
  });
  return { token: tokenView(token), secret };
}

async function createOverApi(api: OperatorApi, fields: Fields): Promise<CreatedToken> {
  const { label, accounts, permissions, expires_on } = fields;
  const { value, ...token } = await api.create<TokenView & { readonly value: string }>('/user/tokens', {
    ...(label !== '' && { label }),
    ...(accounts === 'all' ? { all_accounts: true } : { accounts }),
    permissions,
    ...(expires_on !== null && { expires_on }),
  });
  return { token, secret: value };
}

async function listTokens(options: ListOptions, command: Command): Promise<void> {
  const api = OperatorApi.of(command);
  const tokens = api
    ? await api.list<TokenView>('/user/tokens')
    : (await withStorage(command, (storage) => storage.tokens.list())).map(tokenView);
  if (options.json) {
    for (const token of tokens) await print(JSON.stringify(token));
    return;
  }
  const rows = tokens.map((token) => [
    token.id,
    token.status,
    accountsOf(token),
    token.permissions.map((permission) => permission.replace('dns_protection:', '')).join(','),
    token.expires_on ? momentOf(token.expires_on) : 'never',
    token.label ?? '',
  ]);
  await print(formatTable(['id', 'status', 'accounts', 'permissions', 'expires (UTC)', 'label'], rows));
}

async function revokeTokens(ids: string[], _options: object, command: Command): Promise<void> {
  const api = OperatorApi.of(command);
  const unknown = api ? await revokeOverApi(api, ids) : await revokeInStore(command, ids);
  if (unknown.length > 0)
    throw new OperatorError(
      `No token has the id ${unknown.join(', ')}; \`floodgate token list\` lists all tokens`,
    );
}

/** Returns the ids that no token has. */
async function revokeOverApi(api: OperatorApi, ids: readonly string[]): Promise<string[]> {
  const unknown: string[] = [];
  for (const id of ids) {
    const revoked = await api.delete(`/user/tokens/${id}`);
    if (revoked) await print([`${id} revoked`, ...revoked.messages.map(printable)].join('\n'));
    else unknown.push(id);
  }
  return unknown;
}

const revokeInStore = (command: Command, ids: readonly string[]): Promise<string[]> =>
  withStorage(command, async ({ tokens }) => {
    const unknown: string[] = [];
    for (const id of ids) {
      const revoked = await tokens.revoke(id, commandActor());
      if (revoked) await print(`${id} revoked`);
      else unknown.push(id);
      for (const child of revoked?.descendants ?? []) await print(`${child.id} revoked, created with ${id}`);
    }
    return unknown;
  });

function accountsOf(token: TokenView): string {
  return token.all_accounts ? 'all' : token.accounts.join(',');
}

function collectAccount(value: string, previous: string[] = []): string[] {
  return [...previous, readAccountId(value)];
}

function collectTokenId(value: string, previous: string[] = []): string[] {
  if (!isTokenId(value))
    throw new InvalidArgumentError('A token id is 32 hex digits; `floodgate token list` shows the ids.');
  return [...previous, value];
}

function collectPermission(value: string, previous?: Permission[]): Permission[] {
  const known = [...permissions, ...operatorPermissions];
  const permission = known.find((name) => name === value || name === `dns_protection:${value}`);
  if (!permission) throw new InvalidArgumentError(`Allowed: read, write, audit, ${known.join(', ')}.`);
  // For the first `--permission`, commander passes the default permissions as `previous`.
  const chosen = previous === DEFAULT_PERMISSIONS ? [] : (previous ?? []);
  return [...new Set([...chosen, permission])];
}
