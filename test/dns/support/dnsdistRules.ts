/**
 * Evaluates the rule data that Floodgate sends to dnsdist (src/dns/dataplane/dnsdist/ruleData.ts), with a clock that the
 * test sets. Token buckets work as those of dnsdist 1.7.3. test/dns/dnsdistRules.test.ts compares the result with a real
 * dnsdist.
 */

/** UDP queries with the same name, type and client. */
export interface Queries {
  /** In lower case, without a final dot. */
  readonly name: string;
  readonly type: number;
  /** In text form. */
  readonly client: string;
  /** Number of queries; may be a fraction. */
  readonly count: number;
  /** Query types of the name in the file of known names, as four hexadecimal digits. Undefined: not in the file. */
  readonly knownTypes: string | undefined;
  /** Whether the name is in the file of learned names. */
  readonly isLearned: boolean;
  /** Whether the client's network is in the file of known networks. */
  readonly isKnownNetwork: boolean;
}

/** What happens to the queries. The fields sum to their number. */
export interface DnsdistOutcomes {
  readonly forwarded: number;
  readonly truncated: number;
  readonly dropped: number;
}

/** A period in which queries arrive at a constant rate. */
export interface Period {
  readonly startMs: number;
  readonly seconds: number;
}

const SECOND_MS = 1000;
const HEAD = 'floodgate rules 3';
const NAMES_NEEDED = 'names';
const REFUSED_TAG = 'floodgate-refused';

/** `MaxQPSRule`: full at first. */
class Bucket {
  readonly #rate: number;
  readonly #burst: number;
  #tokens: number;
  #filledMs = Number.NEGATIVE_INFINITY;

  constructor(rate: number, burst: number) {
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Takes at most `wanted` tokens in a period. Returns the number taken. */
  take(wanted: number, { startMs, seconds }: Period): number {
    const idleSeconds = Math.max(0, startMs - this.#filledMs) / SECOND_MS;
    const before = Math.min(this.#burst, this.#tokens + this.#rate * idleSeconds);
    const endMs = startMs + seconds * SECOND_MS;
    // If a rule has taken tokens in this period, those of the period are already added.
    const gained = this.#filledMs >= endMs ? 0 : this.#rate * seconds;
    const taken = Math.min(wanted, before + gained);
    this.#tokens = Math.min(this.#burst, before + gained - taken);
    this.#filledMs = Math.max(this.#filledMs, endMs);
    return taken;
  }
}

/** Queries that the rules have treated equally until now. */
interface Piece {
  readonly queries: Queries;
  readonly index: number;
  readonly tags: ReadonlyMap<string, string>;
}

/** Returns how many queries of each piece match, of the given numbers. */
type Selector = (pieces: readonly Piece[], counts: readonly number[], period: Period) => readonly number[];
type Action = (piece: Piece) => ReadonlyMap<string, string>;

interface Rule {
  readonly selector: Selector;
  readonly action: Action;
}

const textOf = (word: string): string => (word === '-' ? '' : Buffer.from(word, 'hex').toString());

/** Words of one line. */
class Reader {
  readonly #words: readonly string[];
  #next = 0;

  constructor(line: string) {
    this.#words = line.split(' ');
  }

  word(): string {
    const word = this.#words[this.#next++];
    if (word === undefined) throw new Error('unexpected end of a rule');
    return word;
  }

  text(): string {
    return textOf(this.word());
  }

  number(): number {
    return Number(this.word());
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.number() }, read);
  }
}

/** Returns a selector that matches all or none of the queries of a piece. */
const each =
  (matches: (piece: Piece) => boolean): Selector =>
  (pieces, counts) =>
    counts.map((count, index) => (count > 0 && matches(pieces[index] as Piece) ? count : 0)); // as long as `counts`

const isBelow = (name: string, zone: string): boolean =>
  zone === '.' || name === zone || name.endsWith(`.${zone}`);

export class DnsdistRules {
  #data = '';
  #rules: readonly Rule[] = [];
  /** By owner, rate and burst. Buckets of rules that are gone are deleted. */
  #buckets = new Map<string, Bucket>();
  /** Buckets of each client, by rate and burst. */
  #clients = new Map<string, Map<string, Bucket>>();

  /** Replaces all rules, as `setRules` does. Buckets with the same owner, rate and burst keep their tokens. */
  install(data: string): void {
    if (data === this.#data) return;
    this.#data = data;
    const [head, ...lines] = data.trimEnd().split('\n');
    if (head !== HEAD) throw new Error(`unexpected first line: ${head}`);
    const before = { buckets: this.#buckets, clients: this.#clients };
    this.#buckets = new Map();
    this.#clients = new Map();
    this.#rules = lines
      .filter((line) => line !== NAMES_NEEDED)
      .map((line) => this.#ruleOf(new Reader(line), before));
  }

  /** Decides queries that arrive together in a period. Queries that reach a bucket together get equal shares. */
  decide(queries: readonly Queries[], period: Period): DnsdistOutcomes[] {
    let pieces: Piece[] = queries.map((one, index) => ({ queries: one, index, tags: new Map() }));
    let counts: number[] = queries.map(({ count }) => count);
    for (const { selector, action } of this.#rules) {
      const matched = selector(pieces, counts, period);
      const nextPieces: Piece[] = [];
      const nextCounts: number[] = [];
      const add = (piece: Piece, count: number): void => {
        if (count <= 0) return;
        nextPieces.push(piece);
        nextCounts.push(count);
      };
      for (const [index, piece] of pieces.entries()) {
        const matching = matched[index] ?? 0;
        if (matching > 0) add({ ...piece, tags: action(piece) }, matching);
        add(piece, (counts[index] ?? 0) - matching);
      }
      pieces = nextPieces;
      counts = nextCounts;
    }
    const outcomes = queries.map(() => ({ forwarded: 0, truncated: 0, dropped: 0 }));
    for (const [at, { index, tags }] of pieces.entries()) {
      const refused = tags.get(REFUSED_TAG);
      const outcome = refused === 'dropped' || refused === 'truncated' ? refused : 'forwarded';
      const sum = outcomes[index];
      if (sum) sum[outcome] += counts[at] ?? 0;
    }
    return outcomes;
  }

  #ruleOf(from: Reader, before: Buckets): Rule {
    from.word(); // the name
    return { action: actionOf(from), selector: this.#selectorOf(from, before) };
  }

  #selectorOf(from: Reader, before: Buckets): Selector {
    const selectors = (): Selector[] => from.list(() => this.#selectorOf(from, before));
    const kind = from.word();
    switch (kind) {
      case 'and':
        return allOf(selectors());
      case 'or':
        return anyOf(selectors());
      case 'not':
        return notOf(this.#selectorOf(from, before));
      case 'unknown':
        return each(({ queries }) => queries.knownTypes === undefined);
      case 'learned':
        return each(({ queries }) => queries.isLearned);
      case 'network':
        return each(({ queries }) => queries.isKnownNetwork);
      case 'type': {
        const type = from.number();
        return each(({ queries }) => queries.type === type);
      }
      case 'tagged': {
        const [name, word] = [from.text(), from.word()];
        const value = word === '*' ? undefined : textOf(word);
        return each(({ tags }) => (value === undefined ? tags.has(name) : tags.get(name) === value));
      }
      case 'zones': {
        const zones = from.list(() => from.text());
        return each(({ queries }) => zones.some((zone) => isBelow(queries.name, zone)));
      }
      case 'names': {
        const names = new Set(from.list(() => from.text()));
        return each(({ queries }) => names.has(queries.name));
      }
      case 'client': {
        const [rate, burst] = [from.number(), from.number()];
        const key = `${rate} ${burst}`;
        const clients = this.#clients.get(key) ?? before.clients.get(key) ?? new Map<string, Bucket>();
        this.#clients.set(key, clients);
        return clientBeyond(clients, () => new Bucket(rate, burst));
      }
      case 'beyond': {
        const [owner, rate, burst] = [from.word(), from.number(), from.number()];
        const key = `${owner} ${rate} ${burst}`;
        const bucket = this.#buckets.get(key) ?? before.buckets.get(key) ?? new Bucket(rate, burst);
        this.#buckets.set(key, bucket);
        return beyond(bucket);
      }
      default:
        throw new Error(`unexpected selector: ${kind}`);
    }
  }
}

interface Buckets {
  readonly buckets: ReadonlyMap<string, Bucket>;
  readonly clients: ReadonlyMap<string, Map<string, Bucket>>;
}

function actionOf(from: Reader): Action {
  const kind = from.word();
  const tag = from.text();
  if (kind === 'tag') {
    const value = from.text();
    return ({ tags }) => new Map([...tags, [tag, value]]);
  }
  // dnsdist sets the tag to an empty text if the name is not in the file.
  return ({ tags, queries }) => new Map([...tags, [tag, queries.knownTypes ?? '']]);
}

/** Selectors are evaluated in order, each for the queries that the selectors before it match. */
const allOf =
  (selectors: readonly Selector[]): Selector =>
  (pieces, counts, period) =>
    selectors.reduce((left, selector) => (isNone(left) ? left : selector(pieces, left, period)), counts);

const anyOf =
  (selectors: readonly Selector[]): Selector =>
  (pieces, counts, period) => {
    let rest = counts;
    for (const selector of selectors) rest = less(rest, selector(pieces, rest, period));
    return less(counts, rest);
  };

const notOf =
  (selector: Selector): Selector =>
  (pieces, counts, period) =>
    less(counts, selector(pieces, counts, period));

const beyond =
  (bucket: Bucket): Selector =>
  (_pieces, counts, period) => {
    const wanted = counts.reduce((sum, count) => sum + count, 0);
    const passes = wanted === 0 ? 1 : bucket.take(wanted, period) / wanted;
    return passes === 1 ? counts.map(() => 0) : counts.map((count) => count * (1 - passes));
  };

/** A number of queries of one client counts as one, because it represents those of many clients. */
const clientBeyond =
  (clients: Map<string, Bucket>, create: () => Bucket): Selector =>
  (pieces, counts, period) =>
    counts.map((count, index) => {
      const client = pieces[index]?.queries.client;
      if (count === 0 || client === undefined) return 0;
      const bucket = clients.get(client) ?? create();
      clients.set(client, bucket);
      return bucket.take(1, period) < 1 ? count : 0;
    });

const isNone = (counts: readonly number[]): boolean => counts.every((count) => count === 0);
const less = (counts: readonly number[], others: readonly number[]): number[] =>
  counts.map((count, index) => count - (others[index] ?? 0));
