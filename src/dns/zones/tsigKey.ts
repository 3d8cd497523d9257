/** Keys for signed transfers (TSIG, RFC 8945), as people write them. No error shows any of the secret. */
import { nameToText, nameToWire } from '../protocol/index.ts';

/** HMAC with SHA-2 of full length; the older ones (MD5, SHA-1) are not spoken. */
const ALGORITHMS = ['hmac-sha256', 'hmac-sha512'] as const;
type TsigAlgorithm = (typeof ALGORITHMS)[number];

export interface TsigKey {
  /** In lower case, without the last dot. */
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Buffer;
}

/** What is given is no key. */
export class TsigKeyError extends Error {
  override readonly name = 'TsigKeyError';
}

/** Shorter ones can be guessed; `tsig-keygen` and `keymgr -t` make 32 bytes and more. */
const MIN_SECRET_BYTES = 16;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const STATEMENT =
  /\bkey\s+"?([^\s"{]+)"?\s*\{\s*algorithm\s+"?([\w-]+)"?\s*;\s*secret\s+"?([^\s";]+)"?\s*;\s*\}\s*;?/gi;

/** A key as `dig -y` takes it, `hmac-sha256:NAME:SECRET`. Throws `TsigKeyError`. */
export function parseTsigKey(text: string): TsigKey {
  const [algorithm = '', name = '', secret, ...more] = text.trim().split(':');
  if (secret === undefined || more.length > 0)
    throw new TsigKeyError('a TSIG key is written hmac-sha256:NAME:SECRET, with the secret in base64');
  return keyOf(name, algorithm, secret);
}

/** The keys of a file: `key` statements as `tsig-keygen` prints them, or a line for each as `dig -y` takes it. Throws `TsigKeyError`. */
export function parseTsigKeys(text: string): TsigKey[] {
  const statements = [...text.matchAll(STATEMENT)];
  if (statements.length > 0)
    return statements.map(([, name = '', algorithm = '', secret = '']) => keyOf(name, algorithm, secret));
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length === 0) throw new TsigKeyError('there is no key in it');
  return lines.map(parseTsigKey);
}

function keyOf(name: string, algorithm: string, secret: string): TsigKey {
  const known = ALGORITHMS.find((one) => one === algorithm.toLowerCase().replace(/\.$/, ''));
  if (known === undefined)
    throw new TsigKeyError(`the algorithm of the TSIG key is none of ${ALGORITHMS.join(', ')}`);
  const wire = nameOf(name);
  const bytes = Buffer.from(secret, 'base64');
  if (!BASE64.test(secret) || bytes.length < MIN_SECRET_BYTES)
    throw new TsigKeyError(
      `the secret of the TSIG key ${wire} is not base64 of at least ${MIN_SECRET_BYTES} bytes`,
    );
  return { name: wire, algorithm: known, secret: bytes };
}

/** What the key is called in any spelling, as in the zone that it belongs to. Throws `TsigKeyError`. */
export function nameOf(text: string): string {
  try {
    const name = nameToText(nameToWire(text));
    if (name !== '.') return name;
  } catch {
    // Said below.
  }
  throw new TsigKeyError('the name of the TSIG key is no domain name');
}
