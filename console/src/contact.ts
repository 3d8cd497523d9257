/** Detects that the server stopped sending, so that a page can mark its content as unknown. */
import { type ReadonlySignal, signal } from '@preact/signals';

/** The server sends a message each second. After this time without a message, pages show the state as unknown. */
export const CONTACT_MS = 3_000;

export interface Contact {
  /** Time of the last contact if that is longer ago than the limit; undefined while the server is in contact. */
  readonly lostSince: ReadonlySignal<Date | undefined>;
  /** Records that the server sent data. Only a message (`isNews`) ends a loss of contact, a heartbeat does not. */
  note(isNews: boolean): void;
  stop(): void;
}

/** Starts the timeout immediately; each call of `note` restarts it. */
export function watchContact(limitMs: number): Contact {
  const lostSince = signal<Date | undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    const at = new Date();
    clearTimeout(timer);
    timer = setTimeout(() => {
      lostSince.value = at;
    }, limitMs);
  };
  wait();
  return {
    lostSince,
    note(isNews) {
      if (isNews) lostSince.value = undefined;
      if (lostSince.peek() === undefined) wait();
    },
    stop() {
      clearTimeout(timer);
      lostSince.value = undefined;
    },
  };
}
