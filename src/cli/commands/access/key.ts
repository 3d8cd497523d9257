import { type Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../../../config/index.ts';
import {
  type ApiKey,
  hashOfSecret,
  isGood,
  type KeyStore,
  newKeyId,
  newSecret,
  SERVED_METHODS,
  SharedKeys,
  SUBSCRIBE,
  TooManyKeys,
} from '../../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../../ethereum/store/lmdb/gateway/index.ts';
import { formatTimestamp, wallClock } from '../../../rules/index.ts';
import { readConfig } from '../../configFlags.ts';
import { OperatorError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import { requireStore } from '../../requireStore.ts';
import { addRulesStoreFlags, commandActor, withStorage } from './tokenStorage.ts';
import { readMoment } from './tokenTime.ts';

const ID_LENGTH = 8;
const MAX_NAME_LENGTH = 64;
const MAX_RATE_PER_SECOND = 1_000_000;

/** `floodgate key`: manages API keys. A running server applies changes within 0.5 s, from a database within 2 s. */
export function registerKey(program: Command): void {
  const group = program
    .command('key')
    .description('manage API keys of the gateway; if at least one key exists, every request needs a key');

  const create = group.command('create').description('create a key and print it; it cannot be shown again');
  addRulesStoreFlags(create)
    .requiredOption('--name <name>', `name of the key (1 to ${MAX_NAME_LENGTH} characters)`)
    .option('--rate <calls>', 'maximum calls per second (default: no limit)')
    .option('--methods <methods>', 'allowed methods, separated by commas (default: all)')
    .option('--expires <when>', 'expiry: a duration (90d, 12h) or a date (2027-01-31); default: never')
    .action(async (flags: KeyFlags) => {
      const key = newKey(flags, [...SERVED_METHODS, SUBSCRIBE, ...readConfig(create).gateway.extraMethods]);
      const secret = newSecret();
      await withKeys(create, (keys) => addKey(keys, secret, key));
      process.stdout.write(
        `${secret}\n\nKey ${key.id} (${key.name}) was created. It cannot be shown again: keep it safe.\n` +
          'Send it as "Authorization: Bearer KEY" or as ?key=KEY. Requests without a key are rejected from now on.\n',
      );
    });

  const list = group
    .command('list')
    .description('list all keys, including revoked ones')
    .option('--json', 'print one JSON object per line');
  addRulesStoreFlags(list).action(async ({ json }: { json?: boolean }) => {
    const keys = await withKeys(list, async (store) => store.list());
    if (json) {
      for (const key of keys) await print(JSON.stringify(shownKey(key)));
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
  addRulesStoreFlags(revoke).action(async (id: string) => {
    const revoked = await withKeys(revoke, (keys) =>
      keys.revoke(id, {
        revokedOn: new Date().toISOString(),
        revokedBy: commandActor().by,
        revokedFrom: commandActor().from,
      }),
    );
    if (revoked === undefined)
      throw new OperatorError(`key ${id} does not exist; \`floodgate key list\` lists all keys`);
    process.stdout.write(`Key ${revoked.id} (${revoked.name}) is revoked.\n`);
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
  readonly expires?: string;
}

async function addKey(keys: KeyStore, secret: string, key: ApiKey): Promise<void> {
  try {
    await keys.add(hashOfSecret(secret), key);
  } catch (error) {
    throw error instanceof TooManyKeys ? new ConfigError(error.message) : error;
  }
}

function newKey({ name, rate, methods, expires }: KeyFlags, served: readonly string[]): ApiKey {
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
  const unknown = wanted?.filter((method) => !served.includes(method)) ?? [];
  if (unknown.length > 0)
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
    ...(expiresOn !== undefined && { expiresOn }),
    createdOn: new Date().toISOString(),
    createdBy: commandActor().by,
    createdFrom: commandActor().from,
  };
}

/** JSON view of a key, with the member names of the other list commands. */
const shownKey = (key: ApiKey): object => ({
  ...{ id: key.id, name: key.name, status: statusOf(key) },
  ...{ rate_per_second: key.ratePerSecond ?? null, methods: key.methods ?? 'all' },
  ...{ created_on: key.createdOn, expires_on: key.expiresOn ?? null, revoked_on: key.revokedOn ?? null },
});

const statusOf = (key: ApiKey): string =>
  key.revokedOn !== undefined ? 'revoked' : isGood(key) ? 'active' : 'expired';

const lineOf = (key: ApiKey): string =>
  [
    key.id,
    statusOf(key).padEnd('revoked'.length),
    key.createdOn,
    ...(key.expiresOn === undefined ? [] : [`expires ${key.expiresOn}`]),
    key.ratePerSecond === undefined ? 'any rate' : `${key.ratePerSecond} calls/s`,
    key.methods === undefined ? 'all methods' : key.methods.join(','),
    key.name,
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
