/** Logs each change of a rule, access list, zone policy, token or API key: the actor and the change, without secrets. */
import type { ApiKey, KeyStore } from '../../ethereum/gateway/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import {
  type AuditEntry,
  type AuditLog,
  formatTimestamp,
  parseTimestamp,
  ruleFormat,
  StoreUnavailable,
  wallClock,
  zonePolicyChanges,
} from '../../rules/index.ts';
import type { Dns } from '../dns/dns.ts';

/** Interval at which the stores are read for changes. They are polled because other processes change them too. */
const LOOK_MS = 1000;
/** Maximum log lines per interval, so that endless changes cannot fill the disk fast; their lines are delayed. */
const MAX_LINES = 100;

export interface ChangesDependencies {
  /** Audit log of the rules store; undefined if this server has no rules store. */
  readonly audit: AuditLog | undefined;
  /** API keys; undefined if this server has no gateway. */
  readonly keys: Pick<KeyStore, 'list'> | undefined;
  readonly log: Log;
  /** The guard, which forgets zones as audit entries request; undefined if this server has none. */
  readonly dns: Pick<Dns, 'forget' | 'forgottenUntil'> | undefined;
}

/**
 * Logs changes from now on. Lets the guard forget zones, also those that were requested after its profile was stored.
 * Returns a function that reads and logs the last changes, and stops the logging.
 */
export async function logChanges({
  audit,
  keys,
  log,
  dns,
}: ChangesDependencies): Promise<() => Promise<void>> {
  const logged = await newestOf(audit);
  let since = dns?.forgottenUntil ?? logged;
  let known = keysById(keys);
  const look = async (): Promise<void> => {
    let lines = 0;
    for await (const entry of audit?.read({ since: since && after(since) }) ?? []) {
      if (entry.action === 'zone.forget') dns?.forget(entry.account, entry.zone, entry.at);
      since = entry.at;
      if (logged !== undefined && parseTimestamp(entry.at) <= parseTimestamp(logged)) continue;
      logEntry(entry, log);
      if (++lines === MAX_LINES) break;
    }
    if (dns !== undefined) dns.forgottenUntil = since ?? formatTimestamp(0);
    const now = keysById(keys);
    for (const key of now.values()) logKey(key, known.get(key.id), log);
    known = now;
  };
  // Errors are ignored here, because other code reports a store that cannot be read.
  const once = (): Promise<void> => look().catch(() => undefined);
  await once();
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

/** Returns the time of the newest entry; the current time if the database is away. */
async function newestOf(audit: AuditLog | undefined): Promise<string | undefined> {
  try {
    return (await audit?.page({}, { limit: 1 }))?.entries[0]?.at;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return formatTimestamp(wallClock());
  }
}

const after = (at: string): string => formatTimestamp(parseTimestamp(at) + 1);

const keysById = (keys: ChangesDependencies['keys']): Map<string, ApiKey> =>
  new Map((keys?.list() ?? []).map((key) => [key.id, key]));

function logEntry(entry: AuditEntry, log: Log): void {
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
    log.info({ ...who, account, rule, mode: (now ?? before)?.mode, changed }, 'rule changed');
  } else if ('list' in entry) {
    const { account, list, entry: id, before, after: now } = entry;
    const subject = now ?? before;
    const what = subject && ('prefix' in subject ? subject.prefix : subject.name);
    log.info({ ...who, account, list, entry: id, subject: plain(what ?? '') }, 'access list changed');
  } else if (entry.action === 'zone.forget') {
    const { account, zone, policy } = entry;
    log.info({ ...who, account, zone, policy }, 'zone forgotten');
  } else if ('zone' in entry) {
    const { account, zone, policy, before, after: now } = entry;
    const changed = before && now ? Object.entries(zonePolicyChanges(before, now)) : [];
    const texts = changed.map(([member, value]) => plain(`${member}: ${value}`));
    log.info(
      { ...who, account, zone, policy, mode: (now ?? before)?.mode, changed: texts },
      'zone policy changed',
    );
  } else
    log.info(
      { ...who, token: entry.token, name: plain((entry.after ?? entry.before)?.label ?? '') },
      'token changed',
    );
}

function logKey(key: ApiKey, before: ApiKey | undefined, log: Log): void {
  const { id, name, createdBy = '', revokedBy = '', createdFrom = 'local', revokedFrom = 'local' } = key;
  const subject = { key: id, name: plain(name) };
  if (before === undefined)
    log.info(
      { action: 'key.create', by: plain(createdBy), from: plain(createdFrom), ...subject },
      'API key changed',
    );
  if (key.revokedOn !== undefined && before?.revokedOn === undefined)
    log.info(
      { action: 'key.revoke', by: plain(revokedBy), from: plain(revokedFrom), ...subject },
      'API key changed',
    );
}

/** Replaces control characters, because operators choose labels and names freely. This prevents log injection. */
const plain = (text: string): string => text.replaceAll(/\p{C}/gu, '\uFFFD');
