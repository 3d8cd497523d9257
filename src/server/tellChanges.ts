/** One line of log for each change of a rule, an access list, a token or an API key: who, what, and no secret. */
import type { ApiKey, KeyStore } from '../ethereum/gateway/index.ts';
import type { Log } from '../platform/logging/index.ts';
import {
  type AuditEntry,
  type AuditLog,
  formatTimestamp,
  parseTimestamp,
  ruleFormat,
} from '../rules/index.ts';

/** How often the stores are looked at: other processes change them, too. */
const LOOK_MS = 1000;
/** Lines of one look: a program that changes rules without end delays its lines, and fills no disk. */
const MAX_LINES = 100;

export interface ChangesDependencies {
  /** None where this server has no store of rules. */
  readonly audit: AuditLog | undefined;
  /** None where there is no gateway. */
  readonly keys: Pick<KeyStore, 'list'> | undefined;
  readonly log: Log;
}

/** Tells what changes from now on. Returns a function that ends it, and waits for a look that is under way. */
export async function tellChanges({ audit, keys, log }: ChangesDependencies): Promise<() => Promise<void>> {
  const newest = await audit?.page({}, { limit: 1 });
  let since = newest?.entries[0]?.at;
  let known = keysById(keys);
  const look = async (): Promise<void> => {
    let lines = 0;
    for await (const entry of audit?.read({ since: since && after(since) }) ?? []) {
      tell(entry, log);
      since = entry.at;
      if (++lines === MAX_LINES) break;
    }
    const now = keysById(keys);
    for (const key of now.values()) tellKey(key, known.get(key.id), log);
    known = now;
  };
  // A store that cannot be read is told of by whoever watches it.
  const once = (): Promise<void> => look().catch(() => undefined);
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= once().finally(() => {
      looking = undefined;
    });
  }, LOOK_MS).unref();
  return async () => {
    clearInterval(timer);
    await looking;
    await once();
  };
}

const after = (at: string): string => formatTimestamp(parseTimestamp(at) + 1);

const keysById = (keys: ChangesDependencies['keys']): Map<string, ApiKey> =>
  new Map((keys?.list() ?? []).map((key) => [key.id, key]));

function tell(entry: AuditEntry, log: Log): void {
  const { action, by, from, label } = entry;
  const who = {
    action,
    by: plain(by),
    from: plain(from),
    ...(label !== undefined && { label: plain(label) }),
  };
  if ('rule' in entry) {
    const { account, rule, before, after: now } = entry;
    const changed = ruleFormat.settingMembers
      .filter((member) => before && now && before[member] !== now[member])
      .map((member) => `${member}: ${before?.[member]} → ${now?.[member]}`);
    log.info({ ...who, account, rule, mode: (now ?? before)?.mode, changed }, 'a rule was changed');
  } else if ('list' in entry) {
    const { account, list, entry: id, before, after: now } = entry;
    const subject = now ?? before;
    const what = subject && ('prefix' in subject ? subject.prefix : subject.name);
    log.info({ ...who, account, list, entry: id, subject: plain(what ?? '') }, 'an access list was changed');
  } else
    log.info(
      { ...who, token: entry.token, name: plain((entry.after ?? entry.before)?.label ?? '') },
      'a token was changed',
    );
}

function tellKey(key: ApiKey, before: ApiKey | undefined, log: Log): void {
  const { id, name, createdBy = '', revokedBy = '', createdFrom = 'local', revokedFrom = 'local' } = key;
  const subject = { key: id, name: plain(name) };
  if (before === undefined)
    log.info(
      { action: 'key.create', by: plain(createdBy), from: plain(createdFrom), ...subject },
      'an API key was changed',
    );
  if (key.revokedOn !== undefined && before?.revokedOn === undefined)
    log.info(
      { action: 'key.revoke', by: plain(revokedBy), from: plain(revokedFrom), ...subject },
      'an API key was changed',
    );
}

/** Labels and names are what an operator wrote: nothing in them moves a cursor or begins a line. */
const plain = (text: string): string => text.replaceAll(/\p{C}/gu, '\uFFFD');
