import { type Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../../../config/index.ts';
import {
  type ApiKey,
  type CallLimit,
  type CallLimits,
  hashOfSecret,
  type KeyStore,
  type KeyView,
  keySettingsView,
  keyView,
  limitsOfView,
  MAX_LIMITS,
  newKeyId,
  newSecret,
  SERVED_METHODS,
  SharedKeys,
  SUBSCRIBE,
  TooManyKeys,
} from '../../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../../ethereum/store/lmdb/gateway/index.ts';
import { ApiFailure } from '../../../rules/client/index.ts';
import { formatTimestamp, wallClock } from '../../../rules/index.ts';
import { readConfig } from '../../configFlags.ts';
import { OperatorError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import { requireStore } from '../../requireStore.ts';
import { printable } from '../rules/rulesTable.ts';
import { addAccessFlags, OperatorApi } from './overApi.ts';
import { commandActor, withStorage } from './tokenStorage.ts';
import { readMoment } from './tokenTime.ts';

/** Path of the keys in the API. */
const KEYS = '/gateway/keys';
const ID_LENGTH = 8;
const MAX_NAME_LENGTH = 64;
const MAX_RATE_PER_SECOND = 1_000_000;

/** `floodgate key`: manages API keys. A running server applies changes within 0.5 s, from a database within 2 s. */
export function registerKey(program: Command): void {
  const group = program
    .command('key')
    .description('manage API keys of the gateway; if at least one key exists, every request needs a key');

  const create = group.command('create').description('create a key and print it; it cannot be shown again');
  addAccessFlags(create)
    .requiredOption('--name <name>', `name of the key (1 to ${MAX_NAME_LENGTH} characters)`)
    .option('--rate <calls>', 'maximum calls per second (default: no limit)')
    .option('--methods <methods>', 'allowed methods, separated by commas (default: all)')
    .option(
      '--limits <limits>',
      'limits that replace gateway.limits, such as traceFilterBlocks=5000,logsBlocks=5000 (default: gateway.limits)',
    )
    .option('--expires <when>', 'expiry: a duration (90d, 12h) or a date (2027-01-31); default: never')
    .action(async (flags: KeyFlags) => {
      const api = OperatorApi.of(create);
      const key = newKey(flags, api === undefined ? servedMethods(create) : undefined);
      const { id, value: secret } = api ? await createOverApi(api, key) : await createInStore(create, key);
      process.stdout.write(
        `${secret}\n\nKey ${id} (${key.name}) was created. It cannot be shown again: keep it safe.\n` +
          'Send it as "Authorization: Bearer KEY", as "X-API-Key: KEY", as ?key=KEY, or in the path after the network. Requests without a key are rejected from now on.\n',
      );
    });

  const list = group
    .command('list')
    .description('list all keys, including revoked ones')
    .option('--json', 'print one JSON object per line');
  addAccessFlags(list).action(async ({ json }: { json?: boolean }) => {
    const api = OperatorApi.of(list);
    const keys = api
      ? await ofGateway(api, () => api.list<KeyView>(KEYS))
      : (await withKeys(list, async (store) => store.list())).map(keyView);
    if (json) {
      for (const key of keys) await print(JSON.stringify(key));
      return;
    }
    const lines = keys.map(lineOf);
    process.stdout.write(
      lines.length === 0
        ? 'No keys exist: the gateway accepts requests without a key.\n'
        : `${lines.join('\n')}\n`,
    );
  });

  const revoke = group
    .command('revoke')
    .description('revoke a key by its id')
    .argument('<id>', 'id from `floodgate key list`', readKeyId);
  addAccessFlags(revoke).action(async (id: string) => {
    const api = OperatorApi.of(revoke);
    const name = api ? await revokeOverApi(api, id) : await revokeInStore(revoke, id);
    if (name === undefined)
      throw new OperatorError(`key ${id} does not exist; \`floodgate key list\` lists all keys`);
    process.stdout.write(`Key ${id} (${printable(name)}) is revoked.\n`);
  });
}

const keyId = new RegExp(`^[0-9a-f]{${ID_LENGTH}}$`);

function readKeyId(value: string): string {
  if (!keyId.test(value))
    throw new InvalidArgumentError(
      `A key's id is ${ID_LENGTH} hex digits; \`floodgate key list\` shows the ids.`,
    );
  return value;
}

interface KeyFlags {
  readonly name: string;
  readonly rate?: string;
  readonly methods?: string;
  readonly limits?: string;
  readonly expires?: string;
}

async function addKey(keys: KeyStore, secret: string, key: ApiKey): Promise<void> {
  try {
    await keys.add(hashOfSecret(secret), key);
  } catch (error) {
    throw error instanceof TooManyKeys ? new ConfigError(error.message) : error;
  }
}

const servedMethods = (command: Command): string[] => [
  ...SERVED_METHODS,
  SUBSCRIBE,
  ...readConfig(command).gateway.extraMethods,
];

/** Returns a new key. Without `served`, the server checks the methods. */
function newKey({ name, rate, methods, limits, expires }: KeyFlags, served?: readonly string[]): ApiKey {
  if (name.trim() === '' || name.length > MAX_NAME_LENGTH)
    throw new ConfigError(`--name is ${JSON.stringify(name)}; allowed: 1 to ${MAX_NAME_LENGTH} characters`);
  const ratePerSecond = rate === undefined ? undefined : Number(rate);
  if (
    ratePerSecond !== undefined &&
    !(Number.isInteger(ratePerSecond) && ratePerSecond >= 1 && ratePerSecond <= MAX_RATE_PER_SECOND)
  )
    throw new ConfigError(
      `--rate is ${JSON.stringify(rate)}; allowed: a whole number from 1 to ${MAX_RATE_PER_SECOND} (calls per second)`,
    );
  const wanted = methods?.split(',').map((method) => method.trim());
  const unknown = (served && wanted?.filter((method) => !served.includes(method))) ?? [];
  if (served && unknown.length > 0)
    throw new ConfigError(
      `--methods contains ${unknown.join(', ')}, which the gateway does not serve; allowed: ${served.join(', ')}`,
    );
  const now = wallClock();
  const expiresOn = expires === undefined ? undefined : readMoment(expires, now, 'future');
  if (expiresOn !== undefined && expiresOn <= formatTimestamp(now))
    throw new ConfigError(`--expires ${expires} is in the past; the key would never work`);
  return {
    id: newKeyId(),
    name: name.trim(),
    ...(ratePerSecond !== undefined && { ratePerSecond }),
    ...(wanted !== undefined && { methods: wanted }),
    ...(limits !== undefined && { limits: readLimits(limits) }),
    ...(expiresOn !== undefined && { expiresOn }),
    createdOn: new Date().toISOString(),
    createdBy: commandActor().by,
    createdFrom: commandActor().from,
  };
}

function readLimits(text: string): Partial<CallLimits> {
  const allowed = Object.entries(MAX_LIMITS).map(([name, max]) => `${name}=1 to ${max}`);
  const limits = text.split(',').map((part): [string, number] => {
    const [name = '', value = ''] = part.trim().split('=');
    const limit = /^[1-9]\d{0,5}$/.test(value) ? Number(value) : Number.NaN;
    // `NaN <= max` is false.
    if (Object.hasOwn(MAX_LIMITS, name) && limit <= MAX_LIMITS[name as CallLimit]) return [name, limit];
    throw new ConfigError(
      `--limits contains ${JSON.stringify(part)}; allowed, separated by commas: ${allowed.join(', ')}`,
    );
  });
  return Object.fromEntries(limits);
}

interface CreatedKey {
  readonly id: string;
  /** The secret. */
  readonly value: string;
}

async function createInStore(command: Command, key: ApiKey): Promise<CreatedKey> {
  const value = newSecret();
  await withKeys(command, (keys) => addKey(keys, value, key));
  return { id: key.id, value };
}

/** Returns the response to a request about keys. Throws `OperatorError` if the server has no gateway. */
async function ofGateway<T>(api: OperatorApi, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) await requireGateway(api);
    throw error;
  }
}

async function requireGateway(api: OperatorApi): Promise<void> {
  const { networks } = (await api.get<{ readonly networks: readonly object[] }>('/gateway')).result;
  if (networks.length > 0) return;
  throw new OperatorError(
    `The server at ${api.url} has no gateway, and so no API keys: name a server with a gateway with --url, or the ` +
      'data folder of one with --data-dir',
  );
}

/** Returns the name of the revoked key; undefined if the key does not exist. */
async function revokeOverApi(api: OperatorApi, id: string): Promise<string | undefined> {
  const revoked = await api.delete<KeyView>(`${KEYS}/${id}`);
  if (revoked === undefined) await requireGateway(api);
  return revoked?.result.name;
}

async function revokeInStore(command: Command, id: string): Promise<string | undefined> {
  const { by, from } = commandActor();
  const revoked = await withKeys(command, (keys) =>
    keys.revoke(id, { revokedOn: new Date().toISOString(), revokedBy: by, revokedFrom: from }),
  );
  return revoked?.name;
}

const createOverApi = (api: OperatorApi, key: ApiKey): Promise<CreatedKey> =>
  ofGateway(api, () => api.create(KEYS, keySettingsView(key)));

const lineOf = (key: KeyView): string =>
  [
    key.id,
    key.status.padEnd('revoked'.length),
    key.created_on,
    ...(key.expires_on === undefined ? [] : [`expires ${key.expires_on}`]),
    key.rate_per_second === undefined ? 'any rate' : `${key.rate_per_second} calls/s`,
    key.methods?.join(',') ?? 'all methods',
    ...Object.entries(limitsOfView(key.limits ?? {})).map(([name, limit]) => `${name}=${limit}`),
    printable(key.name),
  ].join('  ');

/** Opens the keys in the data folder, or in the database if `rules.store` is set. */
async function withKeys<T>(command: Command, use: (keys: KeyStore) => Promise<T>): Promise<T> {
  const { dataDir, gateway, rules } = readConfig(command);
  if (rules.store !== undefined)
    return withStorage(command, async ({ shared }) => {
      if (shared === undefined) throw new Error('the shared store has no keys');
      return use(new SharedKeys(shared.keys));
    });
  requireStore(dataDir, 'gateway');
  const storage = openGatewayStorage(dataDir, gateway.cacheDiskBytes);
  try {
    return await use(storage.keys);
  } finally {
    await storage.close();
  }
}
