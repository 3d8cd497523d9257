import { type Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../../config/index.ts';
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
} from '../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import { formatTimestamp, wallClock } from '../../rules/index.ts';
import { readConfig } from '../configFlags.ts';
import { needFolder } from '../needFolder.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { addRulesStoreFlags, commandActor, withStorage } from './tokenStorage.ts';
import { readMoment } from './tokenTime.ts';

const ID_LENGTH = 8;
const MAX_NAME_LENGTH = 64;
const MAX_RATE_PER_SECOND = 1_000_000;

/** `floodgate key`: the API keys of the gateway. A running server hears of a change within half a second, or two where they are in a database. */
export function registerKey(program: Command): void {
  const group = program
    .command('key')
    .description('manage API keys of the gateway: once there is one, every request needs one');

  const create = group.command('create').description('create a key and show it, once only');
  addRulesStoreFlags(create)
    .requiredOption('--name <name>', `what to call it (1 to ${MAX_NAME_LENGTH} characters)`)
    .option('--rate <calls>', 'calls per second that it may make (default: no limit)')
    .option('--methods <methods>', 'methods that it may call, separated by commas (default: all)')
    .option('--expires <when>', 'a span (90d, 12h) or a date (2027-01-31); default: never')
    .action(async (flags: KeyFlags) => {
      const key = newKey(flags, [...SERVED_METHODS, SUBSCRIBE, ...readConfig(create).gateway.extraMethods]);
      const secret = newSecret();
      await withKeys(create, (keys) => addKey(keys, secret, key));
      process.stdout.write(
        `${secret}\n\nKey ${key.id} (${key.name}) was created. It is shown this once: keep it safe.\n` +
          'Send it as "Authorization: Bearer KEY" or as ?key=KEY. Requests without a key are refused from now on.\n',
      );
    });

  const list = group
    .command('list')
    .description('list all keys, revoked ones too')
    .option('--json', 'print a JSON object a line');
  addRulesStoreFlags(list).action(async ({ json }: { json?: boolean }) => {
    const keys = await withKeys(list, async (store) => store.list());
    if (json) {
      for (const key of keys) await print(JSON.stringify(shownKey(key)));
      return;
    }
    const lines = keys.map(lineOf);
    process.stdout.write(
      lines.length === 0 ? 'There are no keys: the gateway is open.\n' : `${lines.join('\n')}\n`,
    );
  });

  const revoke = group
    .command('revoke')
    .description('revoke a key by its id')
    .argument('<id>', 'see key list', readKeyId);
  addRulesStoreFlags(revoke).action(async (id: string) => {
    const revoked = await withKeys(revoke, (keys) =>
      keys.revoke(id, {
        revokedOn: new Date().toISOString(),
        revokedBy: commandActor().by,
        revokedFrom: commandActor().from,
      }),
    );
    if (revoked === undefined)
      throw new OperatorError(`there is no key ${id}; \`floodgate key list\` shows those that there are`);
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
      `--methods names ${unknown.join(', ')}, which the gateway does not serve; allowed: ${served.join(', ')}`,
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

/** With the members that the other commands' lists have. */
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

/** The keys of the data folder, or of the database where the server has its rules. */
async function withKeys<T>(command: Command, use: (keys: KeyStore) => Promise<T>): Promise<T> {
  const { dataDir, gateway, rules } = readConfig(command);
  if (rules.store !== undefined)
    return withStorage(command, async ({ shared }) => {
      if (shared === undefined) throw new Error('a store beyond this machine has keys');
      return use(new SharedKeys(shared.keys));
    });
  needFolder(dataDir, 'gateway');
  const storage = openGatewayStorage(dataDir, gateway.cacheDiskBytes);
  try {
    return await use(storage.keys);
  } finally {
    await storage.close();
  }
}
