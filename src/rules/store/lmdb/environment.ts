import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import {
  type AccessEntry,
  type AccessListName,
  type Actor,
  type AuditEntry,
  formatTimestamp,
  type Micros,
  type Rule,
  StoreUnavailable,
  type Token,
  wallClock,
} from '../../index.ts';
import { GroupCommit, type Write } from './groupCommit.ts';

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
  /** When it was given. */
  readonly at: Micros;
  readonly fingerprint: string;
  readonly rule: Rule;
  readonly overrides: readonly string[];
}

/** Named databases in the environment; lmdb reserves room for this many. */
const MAX_DATABASES = 12;
const CLOCK_KEY = 'clock';

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
  readonly audit: Database<AuditEntry, number>;
  readonly firstAnswers: Database<FirstAnswer, string[]>;
  readonly firstAnswerAges: Database<string[], number>;
  readonly commits: GroupCommit;
  readonly #root: RootDatabase<unknown, string>;
  readonly #state: Database<Micros, string>;
  readonly #now: () => Micros;

  /** Opens or creates the environment. Throws `StoreUnavailable` where the folder cannot be used. */
  constructor(dataDir: string, now: () => Micros = wallClock) {
    this.#now = now;
    this.#root = openRoot(join(dataDir, 'rules'));
    this.rules = this.#root.openDB({ name: 'rules', encoding: 'json' });
    this.targets = this.#root.openDB({ name: 'targets', encoding: 'json' });
    this.accounts = this.#root.openDB({ name: 'accounts', encoding: 'json' });
    this.listEntries = this.#root.openDB({ name: 'listEntries', encoding: 'json' });
    this.lists = this.#root.openDB({ name: 'lists', encoding: 'json' });
    this.tokens = this.#root.openDB({ name: 'tokens', encoding: 'json' });
    this.tokenIds = this.#root.openDB({ name: 'tokenIds', encoding: 'json' });
    this.audit = this.#root.openDB({ name: 'audit', encoding: 'json' });
    this.firstAnswers = this.#root.openDB({ name: 'firstAnswers', encoding: 'json' });
    this.firstAnswerAges = this.#root.openDB({ name: 'firstAnswerAges', encoding: 'json' });
    this.#state = this.#root.openDB({ name: 'state', encoding: 'json' });
    this.commits = new GroupCommit(this.#root);
    // Readers of a process that was killed would keep the space of old states from being used again.
    this.#root.readerCheck();
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
  }
}

/** The audit entry of a change at a moment, as a write of the same transaction. */
export function auditWrite(environment: RulesEnvironment, moment: Micros, entry: AuditEntry): Write {
  return { database: environment.audit, key: moment, value: entry };
}

/** The members that every audit entry has. */
export function stamp(moment: Micros, actor: Actor): { at: string; by: string; from: string } {
  return { at: formatTimestamp(moment), by: actor.by, from: actor.from };
}

function openRoot(folder: string): RootDatabase<unknown, string> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return open<unknown, string>({
      path: folder,
      maxDbs: MAX_DATABASES,
      // A commit is flushed before it is visible: what a failed flush would have to take back, nobody has seen.
      overlappingSync: false,
      // Grouping is ours (GroupCommit); lmdb's own leaves a promise behind that nobody can handle when a commit fails.
      eventTurnBatching: false,
    } as Parameters<typeof open>[0] & { path: string }); // lmdb's types lack eventTurnBatching
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`The rules in ${folder} cannot be opened: ${reason}`, { cause: error });
  }
}
