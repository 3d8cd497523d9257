/** Parses the keys of signed zone transfers (TSIG, RFC 8945). Error messages contain no part of a secret. */
import { nameToText, nameToWire } from '../protocol/index.ts';

/** Supported algorithms: HMAC with full-length SHA-2. MD5 and SHA-1 are not supported. */
const ALGORITHMS = ['hmac-sha256', 'hmac-sha512'] as const;
type TsigAlgorithm = (typeof ALGORITHMS)[number];

export interface TsigKey {
  /** Name of the key in lower case, without the trailing dot. */
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Buffer;
}

export class TsigKeyError extends Error {
  override readonly name = 'TsigKeyError';
}

/** Minimum length of a secret, so that it cannot be guessed. `tsig-keygen` and `keymgr -t` use at least 32 bytes. */
const MIN_SECRET_BYTES = 16;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const STATEMENT =
  /\bkey\s+"?([^\s"{]+)"?\s*\{\s*algorithm\s+"?([\w-]+)"?\s*;\s*secret\s+"?([^\s";]+)"?\s*;\s*\}\s*;?/gi;

/** Parses a TSIG key in the form that `dig -y` uses: `hmac-sha256:NAME:SECRET`. Throws `TsigKeyError`. */
export function parseTsigKey(text: string): TsigKey {
  const [algorithm = '', name = '', secret, ...more] = text.trim().split(':');
  if (secret === undefined || more.length > 0)
    throw new TsigKeyError(
      'a TSIG key must have the form hmac-sha256:NAME:SECRET, with the secret in base64',
    );
  return keyOf(name, algorithm, secret);
}

/** Parses TSIG keys: `key` statements of `tsig-keygen`, or one `dig -y` key per line. Throws `TsigKeyError`. */
export function parseTsigKeys(text: string): TsigKey[] {
  const statements = [...text.matchAll(STATEMENT)];
  if (statements.length > 0)
    return statements.map(([, name = '', algorithm = '', secret = '']) => keyOf(name, algorithm, secret));
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length === 0) throw new TsigKeyError('no TSIG key found');
  return lines.map(parseTsigKey);
}

function keyOf(name: string, algorithm: string, secret: string): TsigKey {
  const known = ALGORITHMS.find((one) => one === algorithm.toLowerCase().replace(/\.$/, ''));
  if (known === undefined)
    throw new TsigKeyError(`the algorithm of the TSIG key must be ${ALGORITHMS.join(' or ')}`);
  const wire = nameOf(name);
  const bytes = Buffer.from(secret, 'base64');
  if (!BASE64.test(secret) || bytes.length < MIN_SECRET_BYTES)
    throw new TsigKeyError(
      `the secret of the TSIG key ${wire} must be base64 of at least ${MIN_SECRET_BYTES} bytes`,
    );
  return { name: wire, algorithm: known, secret: bytes };
}

/** Returns the name of a key in lower case, without the trailing dot. Throws `TsigKeyError`. */
export function nameOf(text: string): string {
  try {
    const name = nameToText(nameToWire(text));
    if (name !== '.') return name;
  } catch {
    // Throw TsigKeyError below.
  }
  throw new TsigKeyError('the name of the TSIG key is not a domain name');
}
