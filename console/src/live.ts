import { computed, effect, signal } from '@preact/signals';
import { guardPath, policyCalls, ruleCalls } from './api/account.ts';
import { API, rejectSession } from './api/client.ts';
import { CONSOLE_HEADERS } from './api/credentials.ts';
import { eventsOf } from './api/eventStream.ts';
import { failureOf } from './api/failure.ts';
import type { Change, GuardStatus } from './api/types.ts';
import { CONTACT_MS, type Contact, watchContact } from './contact.ts';
import { may, session } from './session.ts';

/** A message of the live stream. See docs/reference/rules-api.md, section Live. */
export interface LiveMessage {
  readonly at: string;
  readonly rules_etag: string;
  readonly zones_etag: string;
  /** Status of the guard; undefined if no guard runs for this account. */
  readonly guard?: GuardStatus;
  readonly changes?: readonly Change[];
}

/** State of the live stream. `off`: the user is signed out, or the token may not read the stream. */
export type Connection = 'off' | 'connecting' | 'live' | 'reconnecting';

export const connection = signal<Connection>('off');
/** The newest message of the live stream; undefined before the first one. It is kept while reconnecting. */
export const live = signal<LiveMessage | undefined>();
/** These values rarely change. A component that reads them instead of `live` is not rendered each second. */
export const ruleInForceId = computed(() => live.value?.guard?.rule?.id);
export const hasGuard = computed(() => live.value?.guard !== undefined);
const contact = signal<Contact | undefined>();
/** Time of the last message, set if none arrived for too long. The displayed state may then be outdated. */
export const unknownSince = computed(() => {
  const since = contact.value?.lostSince.value;
  return since && new Date(since.getTime() + serverClockAheadMs);
});
/** Difference between the clocks of the server and the browser. Pages show the time of the server's clock. */
let serverClockAheadMs = 0;
/** Message of the server if it rejected the live stream with 429, because too many streams are open. */
export const streamRejection = signal<string | undefined>();
/** Whether the server rejected the live stream. It may still answer other requests. */
export const isStreamRejected = signal(false);
/** Value of `performance.now()` when the newest message arrived. */
export const lastMessageMs = signal(0);

/** Pause between two attempts to connect, so that the page is live within two seconds after the server's return. */
const RETRY_MS = 1_000;
const BUSY_RETRY_MS = 5_000;
/** Time without a message after which the page opens a new connection. The stream sends a message each second. */
const SILENCE_MS = 4_000;

effect(() => {
  const isSignedIn = session.value !== undefined;
  const path = guardPath();
  live.value = undefined;
  if (!isSignedIn || !may('dns_protection:read')) {
    connection.value = 'off';
    return undefined;
  }
  const stop = new AbortController();
  const watched = watchContact(CONTACT_MS);
  contact.value = watched;
  void readStream({ path, stop: stop.signal, contact: watched });
  return () => {
    stop.abort();
    watched.stop();
  };
});

interface StreamOptions {
  readonly path: string;
  readonly stop: AbortSignal;
  readonly contact: Contact;
}

async function readStream(followed: StreamOptions): Promise<void> {
  connection.value = 'connecting';
  streamRejection.value = undefined;
  let lastId: string | undefined;
  lastMessageMs.value = 0;
  while (!followed.stop.aborted) {
    try {
      for await (const { id, data } of messages(followed, lastId)) {
        lastId = id ?? lastId;
        onMessage(JSON.parse(data) as LiveMessage);
        followed.contact.note(true);
      }
    } catch {
      // The error is ignored: `LiveDot` shows that the connection is lost, and the loop retries.
      streamRejection.value = undefined;
      isStreamRejected.value = false;
    }
    if (followed.stop.aborted) return;
    connection.value = 'reconnecting';
    const retryMs = streamRejection.value === undefined ? RETRY_MS : BUSY_RETRY_MS;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

function onMessage(message: LiveMessage): void {
  lastMessageMs.value = performance.now();
  serverClockAheadMs = Date.parse(message.at) - Date.now();
  live.value = message;
  streamRejection.value = undefined;
  ruleCalls.version.value = message.rules_etag;
  policyCalls.version.value = message.zones_etag;
  if (connection.peek() !== 'live') connection.value = 'live';
}

/** Yields the messages of one connection to the live stream. EventSource is not used: it sends no header. */
async function* messages({ path, stop, contact: heard }: StreamOptions, lastId: string | undefined) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await fetch(`${API}${path}/live`, {
      headers: { ...CONSOLE_HEADERS, ...(lastId !== undefined && { 'last-event-id': lastId }) },
      signal: AbortSignal.any([stop, silence.signal]),
      cache: 'no-store',
    });
    isStreamRejected.value = !response.ok;
    if (response.status === 401) rejectSession(failureOf(401, await response.json(), { path: 'live' }));
    if (response.status === 429)
      streamRejection.value = failureOf(429, await response.json(), { path: 'live' }).faults[0]?.message;
    if (!response.ok || response.body === null) return;
    for await (const event of eventsOf(response.body, () => heard.note(false))) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      yield event;
    }
  } finally {
    clearTimeout(timer);
  }
}
