import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import {
  checkStoreFormat,
  checksummedJson,
  DATA_FILE,
  inOneCommit,
  StoreFile,
} from '../../../platform/storeFile/index.ts';
import {
  type AccessEntry,
  type AccessListName,
  type AuditEntry,
  type Micros,
  type Rule,
  StoreUnavailable,
  type Token,
  wallClock,
} from '../../index.ts';
import { GroupCommit, type Write } from './groupCommit.ts';
import { NO_RESERVE, Reserve } from './reserve.ts';

/** What is known of an account without reading its rules. */
export interface AccountState {
  readonly count: number;
  /** Moment of the last change of any of its rules. */
  readonly changedAt: Micros;
}

/** What is known of an account's lists without reading their entries. */
export interface ListsState {
  readonly counts: Readonly<Partial<Record<AccessListName, number>>>;
  /** Moment of the last change of any of their entries. */
  readonly changedAt: Micros;
}

/** The first answer to a create that came with a retry key. */
export interface FirstAnswer {
  /** The moment of the creation, by the store's clock. */
  readonly at: Micros;
  /** What the wall clock said then; older entries have none. */
  readonly wallClock?: Micros;
  readonly fingerprint: string;
  readonly rule: Rule;
  readonly overrides: readonly string[];
}

type Key = string | number | string[];

/** Named databases in the environment; lmdb reserves room for this many. */
const MAX_DATABASES = 16;
/** 1: plain JSON. 2: rules, tokens, audit and first answers with checksums. */
const FORMAT = 2;
const CLOCK_KEY = 'clock';
const BEHIND_KEY = 'behindSince';
/** Wall clocks are set back by small steps all the time; more than this is told, and counts as one that ran ahead. */
const CLOCK_TOLERANCE_MICROS = 60_000_000;
const PROBE_KEY = 'probe';

/**
 * The LMDB environment of rules, tokens and audit: a folder of its own, so that a write of a rule never waits for
 * a commit of traces. Every transaction that changes something takes its moments from one clock that is stored
 * with it and only grows: moments are unique, order all changes, and tell other processes that something changed.
 */
export class RulesEnvironment {
  readonly rules: Database<Rule, string[]>;
  /** Keys (account, target, rule id): which rules compete, found without reading the account's rules. */
  readonly targets: Database<true, string[]>;
  readonly accounts: Database<AccountState, string>;
  /** Keys (account, list, entry id). */
  readonly listEntries: Database<AccessEntry, string[]>;
  readonly lists: Database<ListsState, string>;
  readonly tokens: Database<Token, string>;
  readonly tokenIds: Database<string, string>;
  /** When tokens were used last, by id. */
  readonly tokenUses: Database<string, string>;
  readonly audit: Database<AuditEntry, number>;
  readonly firstAnswers: Database<FirstAnswer, string[]>;
  readonly firstAnswerAges: Database<string[], number>;
  readonly commits: GroupCommit;
  readonly #root: RootDatabase<unknown, string>;
  readonly #file: StoreFile;
  readonly #state: Database<Micros, string>;
  readonly #now: () => Micros;

  /** Opens or creates the environment. Throws `StoreUnavailable` where the folder cannot be used. */
  static open(
    folder: string,
    now: () => Micros = wallClock,
    options: EnvironmentOptions = {},
  ): RulesEnvironment {
    const file = new StoreFile(folder, options);
    return file.opening(() => {
      const opened = openRoot(folder, file, options);
      const openAll = () => new RulesEnvironment(opened, { folder, now, ...options });
      const environment = options.isVerified ? openAll() : inOneCommit(opened.root, openAll);
      // Readers of a process that was killed would keep the space of old states from being used again.
      opened.root.readerCheck();
      return environment;
    });
  }

  private constructor(
    { root, file, isNew }: Opened,
    { folder, now, isVerified }: EnvironmentOptions & { readonly folder: string; readonly now: () => Micros },
  ) {
    this.#now = now;
    this.#root = root;
    this.#file = file;
    this.rules = openChecksummed(this.#root, 'rules');
    this.targets = this.#root.openDB({ name: 'targets', encoding: 'json' });
    this.accounts = this.#root.openDB({ name: 'accounts', encoding: 'json' });
    this.listEntries = openChecksummed(this.#root, 'listEntries');
    this.lists = this.#root.openDB({ name: 'lists', encoding: 'json' });
    this.tokens = openChecksummed(this.#root, 'tokens');
    this.tokenIds = this.#root.openDB({ name: 'tokenIds', encoding: 'json' });
    this.tokenUses = this.#root.openDB({ name: 'tokenUses', encoding: 'json' });
    this.audit = openChecksummed(this.#root, 'audit');
    this.firstAnswers = openChecksummed(this.#root, 'firstAnswers');
    this.firstAnswerAges = this.#root.openDB({ name: 'firstAnswerAges', encoding: 'json' });
    this.#state = this.#root.openDB({ name: 'state', encoding: 'json' });
    const reserve = isVerified ? NO_RESERVE : new Reserve(join(folder, 'reserve'));
    this.commits = new GroupCommit(this.#root, { reserve, file });
    if (!isVerified) this.#upgrade(isNew);
  }

  /** Writes a record that nobody reads, and reads it back. Rejects with `StoreUnavailable` where that cannot be done. */
  async probe(): Promise<void> {
    const at = this.#now();
    const write = { database: this.#state, key: PROBE_KEY, value: at };
    await this.commits.run(() => ({ result: undefined, writes: [write] }));
    this.refresh();
    if ((this.#state.get(PROBE_KEY) ?? 0) < at)
      throw new StoreUnavailable('The rules store does not give back what was written');
  }

  /** Brings a store of an older format to this one, in one transaction. Throws StoreFormatError for a newer one. */
  #upgrade(isNew: boolean): void {
    const rewrite = (database: Database<unknown, Key>): void => {
      for (const { key, value } of [...database.getRange()]) database.putSync(key, value);
    };
    const upgrade = (): void => {
      for (const database of [this.rules, this.tokens, this.audit, this.firstAnswers])
        rewrite(database as Database<unknown, Key>);
    };
    checkStoreFormat(
      { store: 'rules', current: FORMAT, upgrade },
      this.#root.openDB<number, string>({ name: 'format', encoding: 'json' }),
      { isNew },
    );
  }

  /** Moment of the last change of anything, zero before the first. */
  get changedAt(): Micros {
    return this.#state.get(CLOCK_KEY) ?? 0;
  }

  /** The wall clock, not what a change would be stamped with. */
  wallClock(): Micros {
    return this.#now();
  }

  /** A moment later than every one before it. For use inside a transaction; write `clockAt(moment)` with it. */
  nextMoment(): Micros {
    return Math.max(this.#now(), this.changedAt + 1);
  }

  /** How far the wall clock is behind the last change, which it was ahead for; zero where it is not, or not worth a word. */
  get behindMicros(): Micros {
    const behind = this.changedAt - this.#now();
    return behind > CLOCK_TOLERANCE_MICROS ? behind : 0;
  }

  /** Since when by the wall clock, as far as a transaction noted it, the wall clock has been behind the last change. */
  get behindSince(): Micros | undefined {
    return this.#state.get(BEHIND_KEY);
  }

  /** Notes, with the writes of a transaction, that the wall clock is behind or that it no longer is. */
  noteClock(): Write[] {
    const noted = this.behindSince !== undefined;
    if (noted === this.behindMicros > 0) return [];
    return [{ database: this.#state, key: BEHIND_KEY, ...(!noted && { value: this.#now() }) }];
  }

  /** The clock of another store, and since when that is ahead of the wall clock. */
  clockWrites(moment: Micros, behindSince: Micros | null): Write[] {
    const behind: Write[] =
      behindSince === null ? [] : [{ database: this.#state, key: BEHIND_KEY, value: behindSince }];
    return [this.clockAt(moment), ...behind];
  }

  clockAt(moment: Micros): Write {
    return { database: this.#state, key: CLOCK_KEY, value: moment };
  }

  /** Makes the next read see what other processes committed until now. */
  refresh(): void {
    this.#root.resetReadTxn();
  }

  async close(): Promise<void> {
    await this.commits.idle();
    await this.#root.close();
    await this.#file.close();
  }
}

/** The audit entry of a change at a moment, as a write of the same transaction. */
export function auditWrite(environment: RulesEnvironment, moment: Micros, entry: AuditEntry): Write {
  return { database: environment.audit, key: moment, value: entry };
}

/** lmdb's types lack an encoder of one's own. */
function openChecksummed<V, K extends Key>(
  root: RootDatabase<unknown, string>,
  name: string,
): Database<V, K> {
  const options = { name, encoder: checksummedJson(`the ${name}`) };
  return root.openDB<V, K>(options as { name: string });
}

export interface EnvironmentOptions {
  /** It is only read, to be verified, and may be a copy. */
  readonly isVerified?: boolean;
}

interface Opened {
  readonly root: RootDatabase<unknown, string>;
  readonly file: StoreFile;
  readonly isNew: boolean;
}

function openRoot(folder: string, file: StoreFile, { isVerified = false }: EnvironmentOptions): Opened {
  const isNew = !existsSync(join(folder, DATA_FILE));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const root = open<unknown, string>({
      path: folder,
      maxDbs: MAX_DATABASES,
      readOnly: isVerified,
      // A commit is flushed before it is visible: what a failed flush would have to take back, nobody has seen.
      overlappingSync: false,
      // Grouping is ours (GroupCommit); lmdb's own leaves a promise behind that nobody can handle when a commit fails.
      eventTurnBatching: false,
    } as Parameters<typeof open>[0] & { path: string }); // lmdb's types lack eventTurnBatching
    file.opened({ readOnly: isVerified });
    return { root, file, isNew };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`The rules in ${folder} cannot be opened: ${reason}`, { cause: error });
  }
}
