/**
 * Parses zone files (RFC 1035, 5). The data of a record is only split into words, so that files with record types
 * that the parser does not know can be read. Does no I/O: zoneFile.ts reads the files of $INCLUDE.
 */
import { nameToWire, typeNumber } from '../protocol/index.ts';
import { parseRange, parseTemplate, TemplateError } from './generate.ts';

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

/** Maximum length of a reason, which may quote a word of a binary file. */
const MAX_REASON_CHARACTERS = 1000;

/** Thrown for an error in a zone file. The message contains the file, if known, the line number and the reason. */
export class MasterFileError extends Error {
  readonly line: number;
  readonly why: string;

  constructor(line: number, why: string, file?: string) {
    const shown = why.length > MAX_REASON_CHARACTERS ? `${why.slice(0, MAX_REASON_CHARACTERS)}…` : why;
    super(`zone file${file === undefined ? '' : ` ${file}`}, line ${line}: ${shown}`);
    this.name = 'MasterFileError';
    this.line = line;
    this.why = why;
  }
}

/** Where the parser is in one file. An included file starts with its own. */
export interface Position {
  /** Domain name, as text with a trailing dot, that is appended to relative names. */
  readonly origin: string;
  /** Owner of a record whose line starts with a blank. */
  readonly owner: Uint8Array | undefined;
}

/** An $INCLUDE directive. The records of the file belong at this position; then the records of this file continue. */
export class Include {
  readonly file: string;
  readonly start: Position;
  readonly line: number;

  constructor(file: string, start: Position, line: number) {
    this.file = file;
    this.start = start;
    this.line = line;
  }
}

/** State that a zone file and its included files share. */
export interface ZoneState {
  /** TTL of records without a TTL. Like BIND, an included file may change it for the lines that follow. */
  defaultTtl: number;
  /** Number of names that $GENERATE may still produce, and the number at the start. */
  namesLeft: number;
  readonly maxNames: number;
}

interface Entry {
  readonly line: number;
  readonly startsBlank: boolean;
  readonly words: readonly string[];
}

const DEFAULT_TTL_SECONDS = 3600;
/**
 * Record types by name, including types that `typeNumber` does not know. The parser must not take them for a TTL. These
 * are the IANA types that a zone file can contain, and ALIAS and LUA of PowerDNS. Other words are errors: after a line
 * that was indented by mistake, the owner would be taken for a type, and its name would be unknown.
 */
const TYPE_NAMES = `
  MD MF MB MG MR WKS HINFO MINFO RP AFSDB X25 ISDN RT NSAP NSAP-PTR SIG KEY PX GPOS LOC NXT EID NIMLOC ATMA KX
  CERT A6 SINK APL SSHFP IPSECKEY RRSIG NSEC DHCID NSEC3 NSEC3PARAM SMIMEA HIP NINFO RKEY TALINK CDS CDNSKEY
  OPENPGPKEY CSYNC ZONEMD DSYNC HHIT BRID SPF NID L32 L64 LP EUI48 EUI64 URI AVC DOA AMTRELAY RESINFO WALLET CLA
  IPN TA DLV ALIAS LUA
`;
const TYPE_WORD = new RegExp(`^(TYPE\\d+|${TYPE_NAMES.trim().split(/\s+/).join('|')})$`);
const TTL_WORD = /^\d+([smhdw]\d*)*$/i;
/** Maximum TTL (RFC 2181, 8). */
const MAX_TTL_SECONDS = 2 ** 31 - 1;
const TTL_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Default maximum number of names that $GENERATE produces in one zone: the default of `dns.maxNames`. */
const DEFAULT_MAX_NAMES = 1_000_000;

export const newZoneState = (maxNames = DEFAULT_MAX_NAMES): ZoneState => ({
  defaultTtl: DEFAULT_TTL_SECONDS,
  namesLeft: maxNames,
  maxNames,
});

export const startOf = (zone: string): Position => ({
  origin: zone.endsWith('.') ? zone : `${zone}.`,
  owner: undefined,
});

/**
 * Yields the records of a zone file that includes no other file. `origin`: zone name. Throws `MasterFileError` at the
 * first invalid line.
 */
export function* readMasterFile(text: string, origin: string): Generator<MasterRecord> {
  for (const item of parseMasterFile(text, startOf(origin), newZoneState())) {
    if (item instanceof Include)
      throw new MasterFileError(
        item.line,
        '$INCLUDE is not allowed here: this text does not belong to a folder',
      );
    yield item;
  }
}

/** Yields the records and the $INCLUDE directives of one file. Throws `MasterFileError` at the first invalid line. */
export function* parseMasterFile(
  text: string,
  start: Position,
  state: ZoneState,
): Generator<MasterRecord | Include> {
  let { origin, owner } = start;
  for (const entry of entries(text)) {
    const [first = '', second = ''] = entry.words;
    if (first.startsWith('$')) {
      const directive = first.toUpperCase();
      if (directive === '$ORIGIN') origin = absolute(second, origin);
      else if (directive === '$TTL') state.defaultTtl = ttlSeconds(second, entry.line);
      else if (directive === '$INCLUDE') yield includeOf(entry, { origin, owner });
      else if (directive === '$GENERATE') yield* generated(entry, origin, state);
      else
        throw new MasterFileError(
          entry.line,
          `unsupported directive ${first}: use $ORIGIN, $TTL, $INCLUDE or $GENERATE`,
        );
      continue;
    }
    if (!entry.startsBlank) owner = wireAt(first, origin, entry.line);
    if (owner === undefined) throw new MasterFileError(entry.line, 'the first record has no owner');
    yield { owner, origin, ...dataOf(entry, state.defaultTtl) };
  }
}

/** `$INCLUDE FILE [ORIGIN]` (RFC 1035, 5.1). */
function includeOf({ words, line }: Entry, { origin, owner }: Position): Include {
  const [, file = '', domain, extra] = words;
  if (file === '' || extra !== undefined)
    throw new MasterFileError(line, '$INCLUDE needs a file, optionally followed by an origin');
  if (domain === undefined) return new Include(file, { origin, owner }, line);
  wireAt(domain, origin, line);
  return new Include(file, { origin: absolute(domain, origin), owner }, line);
}

/** Maximum length of the data of $GENERATE, as in BIND. */
const MAX_GENERATED_CHARACTERS = 65_535;

/** `$GENERATE RANGE OWNER [TTL] [CLASS] TYPE DATA`, as in BIND. Yields a record for each number of the range. */
function* generated(entry: Entry, origin: string, state: ZoneState): Generator<MasterRecord> {
  const { line } = entry;
  const [, numbers = '', lhs = '', ...rest] = entry.words;
  const atLine = <T>(make: () => T): T => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw new MasterFileError(line, error.message);
    }
  };
  const range = atLine(() => parseRange(numbers));
  const { type, ttlSeconds, data } = dataOf({ line, startsBlank: true, words: rest }, state.defaultTtl);
  if (isMetaType(type)) throw new MasterFileError(line, `$GENERATE cannot produce ${type} records`);
  if (data.length === 0)
    throw new MasterFileError(line, '$GENERATE needs a range, an owner, a type and data');
  // In BIND, the data is one word, in quotes if it has several fields.
  const rhs = data.join(' ').replaceAll('\\"', '"');
  if (lhs.length + rhs.length > MAX_GENERATED_CHARACTERS)
    throw new MasterFileError(line, `$GENERATE allows at most ${MAX_GENERATED_CHARACTERS} characters`);
  if (range.count > state.namesLeft)
    throw new MasterFileError(
      line,
      `$GENERATE ${numbers} produces ${range.count} names: a zone may have at most ${state.maxNames} generated names (dns.maxNames), and ${state.namesLeft} are left`,
    );
  state.namesLeft -= range.count;
  const [ownerOf, textOf] = atLine(() => [parseTemplate(lhs), parseTemplate(rhs)] as const);
  for (let at = range.start; at <= range.stop; at += range.step) {
    const owner = wireAt(
      atLine(() => ownerOf(at)),
      origin,
      line,
    );
    yield { owner, origin, type, ttlSeconds, data: wordsOf(atLine(() => textOf(at))), line };
  }
}

/** Types that exist only in messages: OPT (41) and the types from 128 to 255 (RFC 6895, 3.1). */
function isMetaType(type: string): boolean {
  const number = typeNumber(type) ?? 0;
  return number === 41 || (number >= 128 && number <= 255);
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
    if (word === 'IN' || word === 'CLASS1') continue;
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

/**
 * Maximum length of a line. The largest record, with 65,535 octets as `\DDD`, needs a quarter of it. V8's regular
 * expressions exhaust the stack at words of some million characters.
 */
const MAX_LINE_CHARACTERS = 1024 * 1024;
const TOKEN = /"((?:[^"\\]|\\.)*)"|;.*|[()]|(?:\\.|[^\s()";])+/g;

/** Returns the words of record data that $GENERATE has produced. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [token, quoted] of text.matchAll(TOKEN)) {
    if (token.startsWith(';')) break;
    if (token !== '(' && token !== ')') words.push(quoted ?? token);
  }
  return words;
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
    if (source.length > MAX_LINE_CHARACTERS)
      throw new MasterFileError(
        line,
        `the line has ${source.length} characters; allowed: at most ${MAX_LINE_CHARACTERS}`,
      );
    if (source.includes('\0'))
      throw new MasterFileError(
        line,
        "the line has a NUL byte; allowed: text. Convert a file in BIND's format raw with named-compilezone -f raw",
      );
    if (depth === 0) {
      startLine = line;
      startsBlank = /^\s/.test(source);
      words = [];
    }
    for (const [token, quoted] of source.matchAll(TOKEN)) {
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
