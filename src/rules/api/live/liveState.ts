import type { AuditLog, RuleFormat } from '../../index.ts';
import { auditFormatter, formatTimestamp, parseTimestamp, timestampOfMillis } from '../../index.ts';
import type { GuardReports } from '../handlers/guardHandlers.ts';
import type { LiveMessage, LiveSource } from './liveUpdates.ts';
import { formatPosition } from './position.ts';

const MAX_CHANGES = 100;

export interface LiveStateDependencies {
  readonly audit: Pick<AuditLog, 'page'>;
  readonly format: RuleFormat;
  readonly guard: GuardReports | undefined;
  /** Returns the ETag of an account's list of rules, as the response to `GET …/rules` has it. */
  readonly rulesTag: (account: string) => Promise<string>;
  /** Returns the ETag of an account's list of zone policies. */
  readonly zonesTag: (account: string) => Promise<string>;
}

/** Returns the source of live messages, which contain the current state of an account and its recent changes. */
export function liveState({ audit, format, guard, rulesTag, zonesTag }: LiveStateDependencies): LiveSource {
  const show = auditFormatter(format);

  async function changesSince(account: string, since: number | undefined) {
    const from = since === undefined ? undefined : formatTimestamp(since + 1);
    const limit = since === undefined ? 1 : MAX_CHANGES;
    const { entries, next } = await audit.page({ account, since: from }, { limit });
    const newest = entries[0];
    // A page without matching changes still has a position: the end of the part of the audit log that was searched.
    const change = newest === undefined ? Math.max(since ?? 0, next ?? 0) : parseTimestamp(newest.at);
    if (since === undefined) return { changes: [], change, isCut: false };
    return { changes: entries.toReversed().map(show), change, isCut: next !== undefined };
  }

  return {
    async message({ account, isAudited, since, nowMs }): Promise<LiveMessage> {
      const ours = guard?.accountId === account ? guard : undefined;
      const audited = isAudited ? await changesSince(account, since?.change) : undefined;
      const next = { change: audited?.change ?? 0, atMs: nowMs };
      const data = {
        at: timestampOfMillis(nowMs),
        rules_etag: await rulesTag(account),
        zones_etag: await zonesTag(account),
        ...(ours && {
          guard: ours.status(),
          ended_attacks: since === undefined ? [] : ours.endedSince(since.atMs),
        }),
        ...(audited && { changes: audited.changes }),
        ...(audited?.isCut && { changes_cut: true }),
      };
      return { text: `id: ${formatPosition(next)}\ndata: ${JSON.stringify(data)}\n\n`, next };
    },
  };
}
