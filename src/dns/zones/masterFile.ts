/**
 * Parses zone files (RFC 1035, 5). The data of a record is only split into words, so that files with record types
 * that the parser does not know can be read. $INCLUDE and $GENERATE are rejected.
 */
import { nameToWire, typeNumber } from '../protocol/index.ts';

export interface MasterRecord {
  readonly owner: Uint8Array;
  /** Record type in upper case: `A`, `RRSIG`, `TYPE65534`. */
  readonly type: string;
  readonly ttlSeconds: number;
  /** Words of the record data, without quotes. Names in the data may be relative to `origin`. */
  readonly data: readonly string[];
  /** Domain name, as text, that must be appended to relative names in the data. */
  readonly origin: string;
  readonly line: number;
}

/** Thrown for an error in a zone file. The message contains the line number and the reason. */
export class MasterFileError extends Error {
  constructor(line: number, why: string) {
    super(`zone file, line ${line}: ${why}`);
    this.name = 'MasterFileError';
  }
}

interface Entry {
  readonly line: number;
  readonly startsBlank: boolean;
  readonly words: readonly string[];
}

const DEFAULT_TTL_SECONDS = 3600;
/** Record types by name, including types that `typeNumber` does not know. The parser must not take them for a TTL. */
const TYPE_WORD =
  /^(TYPE\d+|RRSIG|NSEC3?|NSEC3PARAM|CDS|CDNSKEY|SPF|HINFO|LOC|SSHFP|URI|OPENPGPKEY|SMIMEA|RP|AFSDB|EUI48|EUI64|CERT|ZONEMD|CSYNC|DHCID|KX|HIP)$/;
const TTL_WORD = /^\d+([smhdw]\d*)*$/i;
/** Maximum TTL (RFC 2181, 8). */
const MAX_TTL_SECONDS = 2 ** 31 - 1;
const TTL_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Yields the records of a zone file. `origin`: zone name. Throws `MasterFileError` at the first invalid line. */
export function* readMasterFile(text: string, origin: string): Generator<MasterRecord> {
  let currentOrigin = origin.endsWith('.') ? origin : `${origin}.`;
  let defaultTtl = DEFAULT_TTL_SECONDS;
  let owner: Uint8Array | undefined;
  for (const entry of entries(text)) {
    const [first = '', second = ''] = entry.words;
    if (first.startsWith('$')) {
      const directive = first.toUpperCase();
      if (directive === '$ORIGIN') currentOrigin = absolute(second, currentOrigin);
      else if (directive === '$TTL') defaultTtl = ttlSeconds(second, entry.line);
      else throw new MasterFileError(entry.line, `unsupported directive ${first}: use $ORIGIN or $TTL`);
      continue;
    }
    if (!entry.startsBlank) owner = wireAt(first, currentOrigin, entry.line);
    if (owner === undefined) throw new MasterFileError(entry.line, 'the first record has no owner');
    yield { owner, origin: currentOrigin, ...dataOf(entry, defaultTtl) };
  }
}

/** Matches names that end with a dot that is not escaped. */
const ABSOLUTE = /(?:^|[^\\])(?:\\\\)*\.$/;

/** Returns the absolute form of a name. `@` is the origin; a name without a trailing dot is relative to it. */
export const absolute = (name: string, origin: string): string => {
  if (name === '@') return origin;
  if (ABSOLUTE.test(name)) return name;
  return origin === '.' ? `${name}.` : `${name}.${origin}`;
};

/** Returns the fields of a record that follow its owner: optional TTL and class, then type and data. */
function dataOf(entry: Entry, defaultTtl: number): Omit<MasterRecord, 'owner' | 'origin'> {
  let seconds = defaultTtl;
  for (let at = entry.startsBlank ? 0 : 1; at < entry.words.length; at++) {
    const word = (entry.words[at] ?? '').toUpperCase();
    if (word === 'IN') continue;
    if (typeNumber(word) !== undefined || TYPE_WORD.test(word)) {
      return { type: word, ttlSeconds: seconds, data: entry.words.slice(at + 1), line: entry.line };
    }
    if (!TTL_WORD.test(word))
      throw new MasterFileError(entry.line, `"${word}" is not a TTL, class or record type`);
    seconds = ttlSeconds(word, entry.line);
  }
  throw new MasterFileError(entry.line, 'the record has no type');
}

function wireAt(name: string, origin: string, line: number): Uint8Array {
  try {
    return nameToWire(absolute(name, origin));
  } catch (error) {
    throw new MasterFileError(line, error instanceof Error ? error.message : String(error));
  }
}

/** Parses a TTL such as `3600` or `1h30m`. */
function ttlSeconds(word: string, line: number): number {
  if (!TTL_WORD.test(word)) throw new MasterFileError(line, `"${word}" is not a TTL`);
  let seconds = 0;
  for (const [, number, unit] of word.toLowerCase().matchAll(/(\d+)([smhdw]?)/g))
    seconds += Number(number) * (TTL_UNITS[unit || 's'] ?? 1);
  if (seconds > MAX_TTL_SECONDS) throw new MasterFileError(line, `TTL "${word}" exceeds 2^31 - 1 seconds`);
  return seconds;
}

/** Yields the lines of a text one by one, so that a zone file with a million names is not split at once. */
function* linesOf(text: string): Generator<string> {
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    yield text.slice(at, end > at && text[end - 1] === '\r' ? end - 1 : end);
    at = end + 1;
  }
}

/** Yields the words of each record or directive. Joins lines inside parentheses. Skips comments and blank lines. */
function* entries(text: string): Generator<Entry> {
  let words: string[] = [];
  let depth = 0;
  let startLine = 0;
  let startsBlank = false;
  let line = 0;
  for (const source of linesOf(text)) {
    line++;
    if (depth === 0) {
      startLine = line;
      startsBlank = /^\s/.test(source);
      words = [];
    }
    for (const [token, quoted] of source.matchAll(/"((?:[^"\\]|\\.)*)"|;.*|[()]|(?:\\.|[^\s()";])+/g)) {
      if (token.startsWith(';')) break;
      if (token === '(') depth++;
      else if (token === ')') depth--;
      else words.push(quoted ?? token);
    }
    if (depth < 0) throw new MasterFileError(line, 'unmatched )');
    if (depth === 0 && words.length > 0) yield { line: startLine, startsBlank, words };
  }
  if (depth > 0) throw new MasterFileError(startLine, 'unclosed (');
}
