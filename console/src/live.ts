/** The live stream of the account that is looked at: what it told last, and whether it still tells. */
import { computed, effect, signal } from '@preact/signals';
import { API, pathOf } from './api/client.ts';
import { refusal } from './api/credentials.ts';
import { eventsOf } from './api/eventStream.ts';
import { failureOf } from './api/failure.ts';
import type { AttackSummary, GuardStatus, RuleChange, Schemas } from './api/types.ts';
import { account, may, session } from './session.ts';

/** A message of the stream: see docs/rules-api.md, Live. */
export interface LiveMessage {
  readonly at: string;
  readonly rules_etag: string;
  /** Left out where no guard runs for this account. */
  readonly guard?: GuardStatus;
  readonly ended_attacks?: readonly AttackSummary[];
  readonly changes?: readonly (RuleChange | Schemas['ListChange'])[];
}

/** `off`: nobody is signed in, or the token may not listen. */
export type Connection = 'off' | 'connecting' | 'live' | 'reconnecting';

export const connection = signal<Connection>('off');
/** The newest message; undefined until the first has come. Kept while reconnecting. */
export const live = signal<LiveMessage | undefined>();
/** Parts of it that seldom change: who hangs on these alone is not drawn anew each second. */
export const ruleInForceId = computed(() => live.value?.guard?.rule?.id);
export const hasGuard = computed(() => live.value?.guard !== undefined);
/** Another number every `ms`, by the server's clock. Without a message 0: NaN is no number twice, so what hangs on it never rests. */
export const turnOf = (ms: number): number => Math.floor(Date.parse(live.value?.at ?? '') / ms) || 0;
/** Why the server lets nobody listen here now: it says so where too many do. */
export const whyNotLive = signal<string | undefined>();
/** When the newest came, as `performance.now()` tells it. */
export const lastMessageMs = signal(0);
/**
 * The `ETag` of all rules, as the stream or the list told it last: where it changes they are read again.
 * The list tells it too, as it may show a rule that was made and deleted between two messages.
 */
export const rulesVersion = signal('');

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;
/** One comes each second: without any for so long the connection is dead, whatever it says itself. */
const SILENCE_MS = 6_000;

effect(() => {
  const token = session.value?.token;
  const of = account.value;
  live.value = undefined;
  if (token === undefined || !may('dns_protection:read')) {
    connection.value = 'off';
    return undefined;
  }
  const stop = new AbortController();
  void follow({ token, of, stop: stop.signal });
  return () => stop.abort();
});

interface Followed {
  readonly token: string;
  readonly of: string;
  readonly stop: AbortSignal;
}

async function follow(followed: Followed): Promise<void> {
  connection.value = 'connecting';
  whyNotLive.value = undefined;
  let lastId: string | undefined;
  lastMessageMs.value = 0;
  let retryMs = RETRY_MS;
  while (!followed.stop.aborted) {
    try {
      for await (const { id, data } of messages(followed, lastId)) {
        lastId = id ?? lastId;
        retryMs = RETRY_MS;
        take(JSON.parse(data) as LiveMessage);
      }
    } catch {
      // Told by the dot; what follows is another attempt.
      whyNotLive.value = undefined;
    }
    if (followed.stop.aborted) return;
    connection.value = 'reconnecting';
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
  }
}

function take(message: LiveMessage): void {
  lastMessageMs.value = performance.now();
  live.value = message;
  whyNotLive.value = undefined;
  rulesVersion.value = message.rules_etag;
  if (connection.peek() !== 'live') connection.value = 'live';
}

/** Read with fetch, so that the token stays in its header. */
async function* messages({ token, of, stop }: Followed, lastId: string | undefined) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await fetch(
      `${API}${pathOf`/accounts/${of}/network/advanced_dns_protection/configs/dns_protection/live`}`,
      {
        headers: {
          authorization: `Bearer ${token}`,
          ...(lastId !== undefined && { 'last-event-id': lastId }),
        },
        signal: AbortSignal.any([stop, silence.signal]),
        cache: 'no-store',
      },
    );
    if (response.status === 401) refusal.value = failureOf(401, await response.json());
    if (response.status === 429) whyNotLive.value = failureOf(429, await response.json()).faults[0]?.message;
    if (!response.ok || response.body === null) return;
    for await (const event of eventsOf(response.body)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      yield event;
    }
  } finally {
    clearTimeout(timer);
  }
}
