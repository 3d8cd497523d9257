/** Detects that the server has stopped sending, so that a page can show its content as unknown. */
import { type ReadonlySignal, signal } from '@preact/signals';

/** Time without a message after which pages show the state as unknown. The server sends a message each second. */
export const CONTACT_MS = 3_000;

export interface Contact {
  /** Time of the last contact, set if it is longer ago than the limit; undefined while the server is in contact. */
  readonly lostSince: ReadonlySignal<Date | undefined>;
  /** Records that the server sent data. After a loss of contact, only a message (`isNews`) ends it, no heartbeat. */
  note(isNews: boolean): void;
  stop(): void;
}

/** Watches the contact to the server. It is lost if `note` is not called for `limitMs`, counted from now at first. */
export function watchContact(limitMs: number): Contact {
  const lostSince = signal<Date | undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    const at = new Date();
    clearTimeout(timer);
    timer = setTimeout(() => (lostSince.value = at), limitMs);
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
