import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import {
  checkStoreFormat,
  checksummedJson,
  inOneCommit,
  StoreFile,
} from '../../../platform/storeFile/index.ts';
import {
  type AccessEntry,
  type AccessListName,
  type AuditEntry,
  type IdempotencyRecord,
  type Micros,
  type Rule,
  type Session,
  StoreUnavailable,
  type Token,
  wallClock,
  type ZonePolicy,
} from '../../index.ts';
import { GroupCommit, type Write } from './groupCommit.ts';
import { NO_RESERVE, Reserve } from './reserve.ts';

/** Number of an account's rules or zone policies, stored so that they need not be read. */
export interface AccountCount {
  readonly count: number;
}

/** Sizes of an account's access lists, stored so that the entries need not be read. */
export interface ListCounts {
  readonly counts: Readonly<Partial<Record<AccessListName, number>>>;
}

/** State of the records of an account, with the time of their last change. */
type Dated<State> = State & { readonly changedAt: Micros };

type Key = string | number | string[];

/** Maximum number of named databases in the environment. LMDB reserves space for them. */
const MAX_DATABASES = 20;
const FORMAT = 2;
const CLOCK_KEY = 'clock';
const BEHIND_KEY = 'behindSince';
/** Tolerance for small steps of the wall clock. If it is further behind the last change, it ran ahead earlier. */
const CLOCK_TOLERANCE_MICROS = 60_000_000;
const PROBE_KEY = 'probe';

/**
 * LMDB environment of rules, access lists, zone policies, tokens and audit log. It is separate from the environment of traces, so
 * that changes never wait for commits of traces. A stored clock that only increases gives each change a unique time,
 * by which other processes detect changes.
 */
export class RulesEnvironment {
  readonly rules: Database<Rule, string[]>;
  /** Index with the keys (account, target, rule id): finds rules with a target without reading the whole account. */
  readonly targets: Database<true, string[]>;
  readonly accounts: Database<Dated<AccountCount>, string>;
  /** Entries of access lists, with the keys (account, list, entry id). */
  readonly listEntries: Database<AccessEntry, string[]>;
  readonly lists: Database<Dated<ListCounts>, string>;
  readonly zonePolicies: Database<ZonePolicy, string[]>;
  /** Ids of zone policies, with the keys (account, zone). */
  readonly zoneIds: Database<string, string[]>;
  readonly zoneStates: Database<Dated<AccountCount>, string>;
  readonly tokens: Database<Token, string>;
  readonly tokenIds: Database<string, string>;
  /** Time of each token's last use, by token id. */
  readonly tokenUses: Database<string, string>;
  readonly sessions: Database<Session, string>;
  readonly audit: Database<AuditEntry, number>;
  readonly firstAnswers: Database<IdempotencyRecord, string[]>;
  readonly firstAnswerAges: Database<string[], number>;
  readonly commits: GroupCommit;
  readonly #root: RootDatabase<unknown, string>;
  readonly #file: StoreFile;
  readonly #state: Database<Micros, string>;
  readonly #now: () => Micros;

  /** Opens or creates the environment. Throws `StoreUnavailable` if the folder is unusable or has another format. */
  static open(
    folder: string,
    now: () => Micros = wallClock,
    options: EnvironmentOptions = {},
  ): RulesEnvironment {
    const file = new StoreFile(folder, options);
    return file.withOpen(() => {
      const opened = openRoot(folder, file, options);
      const openAll = (): RulesEnvironment => {
        const readOnly = options.isVerified ?? false;
        checkStoreFormat(opened.root, { store: 'rules', folder, format: FORMAT }, { readOnly });
        return new RulesEnvironment(opened, { folder, now, ...options });
      };
      const environment = options.isVerified ? openAll() : inOneCommit(opened.root, openAll);
      // Removes the reader entries of killed processes, which would prevent LMDB from reusing the space of old data.
      opened.root.readerCheck();
      return environment;
    });
  }

  private constructor(
    { root, file }: Opened,
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
    this.zonePolicies = openChecksummed(this.#root, 'zonePolicies');
    this.zoneIds = this.#root.openDB({ name: 'zoneIds', encoding: 'json' });
    this.zoneStates = this.#root.openDB({ name: 'zoneStates', encoding: 'json' });
    this.tokens = openChecksummed(this.#root, 'tokens');
    this.tokenIds = this.#root.openDB({ name: 'tokenIds', encoding: 'json' });
    this.tokenUses = this.#root.openDB({ name: 'tokenUses', encoding: 'json' });
    this.sessions = openChecksummed(this.#root, 'sessions');
    this.audit = openChecksummed(this.#root, 'audit');
    this.firstAnswers = openChecksummed(this.#root, 'firstAnswers');
    this.firstAnswerAges = this.#root.openDB({ name: 'firstAnswerAges', encoding: 'json' });
    this.#state = this.#root.openDB({ name: 'state', encoding: 'json' });
    const reserve = isVerified ? NO_RESERVE : new Reserve(join(folder, 'reserve'));
    this.commits = new GroupCommit(this.#root, { reserve, file });
  }

  /** Throws `StoreUnavailable` unless a test record can be written and read back. */
  async probe(): Promise<void> {
    const at = this.#now();
    const write = { database: this.#state, key: PROBE_KEY, value: at };
    await this.commits.run(() => ({ result: undefined, writes: [write] }));
    this.refresh();
    if ((this.#state.get(PROBE_KEY) ?? 0) < at)
      throw new StoreUnavailable('The rules store did not return the record that was written');
  }

  /** Time of the last change in the store; 0 before the first change. */
  get changedAt(): Micros {
    return this.#state.get(CLOCK_KEY) ?? 0;
  }

  /** Returns the wall-clock time. Changes get their time from `nextMoment` instead. */
  wallClock(): Micros {
    return this.#now();
  }

  /** Returns a time later than all changes. Call it inside a transaction, and write `clockAt` of it there as well. */
  nextMoment(): Micros {
    return Math.max(this.#now(), this.changedAt + 1);
  }

  /** Microseconds by which the wall clock is behind the time of the last change; 0 within the tolerance. */
  get behindMicros(): Micros {
    const behind = this.changedAt - this.#now();
    return behind > CLOCK_TOLERANCE_MICROS ? behind : 0;
  }

  /** Wall-clock time at which `noteClock` recorded that the wall clock is behind the last change; else undefined. */
  get behindSince(): Micros | undefined {
    return this.#state.get(BEHIND_KEY);
  }

  /** Returns the write that records whether the wall clock is behind the last change; empty if already recorded. */
  noteClock(): Write[] {
    const noted = this.behindSince !== undefined;
    if (noted === this.behindMicros > 0) return [];
    return [{ database: this.#state, key: BEHIND_KEY, ...(!noted && { value: this.#now() }) }];
  }

  /** Returns the writes that set the clock of a store into which another store is copied. */
  clockWrites(moment: Micros, behindSince: Micros | null): Write[] {
    const behind: Write[] =
      behindSince === null ? [] : [{ database: this.#state, key: BEHIND_KEY, value: behindSince }];
    return [this.clockAt(moment), ...behind];
  }

  clockAt(moment: Micros): Write {
    return { database: this.#state, key: CLOCK_KEY, value: moment };
  }

  /** Makes commits of other processes visible to the following reads. */
  refresh(): void {
    this.#root.resetReadTxn();
  }

  async close(): Promise<void> {
    await this.commits.idle();
    await this.#file.close(this.#root);
  }
}

export function auditWrite(environment: RulesEnvironment, moment: Micros, entry: AuditEntry): Write {
  return { database: environment.audit, key: moment, value: entry };
}

/** Opens a database whose records have checksums. The cast is needed because lmdb's types lack custom encoders. */
function openChecksummed<V, K extends Key>(
  root: RootDatabase<unknown, string>,
  name: string,
): Database<V, K> {
  const options = { name, encoder: checksummedJson(`the ${name}`) };
  return root.openDB<V, K>(options as { name: string });
}

export interface EnvironmentOptions {
  /** Whether the environment is opened read-only for verification. It may then be a copy of a store. */
  readonly isVerified?: boolean;
}

interface Opened {
  readonly root: RootDatabase<unknown, string>;
  readonly file: StoreFile;
}

function openRoot(folder: string, file: StoreFile, { isVerified = false }: EnvironmentOptions): Opened {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const root = open<unknown, string>({
      path: folder,
      maxDbs: MAX_DATABASES,
      readOnly: isVerified,
      // Each commit is flushed before it becomes visible, so that no reader sees data that a failed flush discards.
      overlappingSync: false,
      // `GroupCommit` groups writes instead: with lmdb's own grouping, a failed commit leaves a promise rejected and
      // unhandled.
      eventTurnBatching: false,
    } as Parameters<typeof open>[0] & { path: string }); // lmdb's types lack eventTurnBatching
    file.opened({ readOnly: isVerified });
    return { root, file };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`The rules in ${folder} cannot be opened: ${reason}`, { cause: error });
  }
}
