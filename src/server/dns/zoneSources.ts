/** Parses the zones that are seeded at the start, and the TSIG keys of their transfers. Throws ConfigError. */
import { type Config, ConfigError } from '../../config/index.ts';
import { nameToText, nameToWire } from '../../dns/protocol/index.ts';
import {
  parseTsigKey,
  parseTsigKeys,
  type TsigKey,
  TsigKeyError,
  tsigKeyName,
  type ZoneSource,
} from '../../dns/zones/index.ts';
import { readNamed } from '../../platform/regularFile/index.ts';
import { addressOf } from '../listen/address.ts';

const TRANSFER = 'axfr:';
const KEY = ' key ';
/** Maximum size of a file of keys. A thousand keys fit easily. */
const MAX_KEYS_BYTES = 256 * 1024;

export function zoneSourcesOf({ zones, tsigKeys, tsigKeyFiles }: Config['dns']): ZoneSource[] {
  const keys = new Map<string, TsigKey>();
  const add = (option: string, read: () => readonly TsigKey[]): void => {
    for (const key of explained(option, read)) {
      if (keys.has(key.name)) throw new ConfigError(`${option}: duplicate TSIG key ${key.name}`);
      keys.set(key.name, key);
    }
  };
  for (const text of tsigKeys) add('dns.tsigKeys', () => [parseTsigKey(text)]);
  for (const file of tsigKeyFiles) add(`dns.tsigKeyFiles: ${file}`, () => parseTsigKeys(keysIn(file)));
  const names = new Set<string>();
  return zones.map((text) => {
    const source = zoneOf(text, keys);
    const name = nameToText(nameToWire(source.name)); // the same text for all spellings of a name
    if (names.has(name))
      throw new ConfigError(`dns.zones contains the zone ${name} twice; allowed: one source for each zone`);
    names.add(name);
    return source;
  });
}

function keysIn(file: string): string {
  try {
    return readNamed(file, MAX_KEYS_BYTES).toString();
  } catch (error) {
    throw new ConfigError(
      `dns.tsigKeyFiles: ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function zoneOf(text: string, keys: ReadonlyMap<string, TsigKey>): ZoneSource {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals);
  const source = text.slice(equals + 1);
  try {
    nameToWire(name);
  } catch (error) {
    throw new ConfigError(`dns.zones: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!source.startsWith(TRANSFER)) return { name, file: source };
  const [address = '', keyName] = source.slice(TRANSFER.length).split(KEY);
  const transferFrom = addressOf(address, 'dns.zones');
  if (keyName === undefined) return { name, transferFrom };
  const key = keys.get(explained('dns.zones', () => tsigKeyName(keyName.trim())));
  if (key === undefined)
    throw new ConfigError(
      `dns.zones: the TSIG key of ${name} is in neither dns.tsigKeys nor dns.tsigKeyFiles`,
    );
  return { name, transferFrom, key };
}

/** Converts an error about a key to a ConfigError without the secret. */
function explained<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TsigKeyError) throw new ConfigError(`${option}: ${error.message}`);
    throw error;
  }
}
