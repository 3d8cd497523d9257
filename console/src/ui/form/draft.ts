/** Unsaved input. This tab keeps it during Back, Reload and a new sign-in. */
import { effect, type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

const PREFIX = 'floodgate.draft';
/** Parameters of the URL that select the rows of a table. They may change while a form is open. */
const OF_TABLES = ['text', 'sort'];

function keyOf(name: string): string {
  const query = new URLSearchParams(location.search);
  for (const parameter of OF_TABLES) query.delete(parameter);
  return `${PREFIX} ${location.pathname}?${query} ${name}`;
}

/** Hook like `useSignal` for a part of the input on this page. If `isKept` returns false, the part is not stored. */
export function useDraft<T>(name: string, initial: T, isKept: (value: T) => boolean = () => true): Signal<T> {
  const key = useMemo(() => keyOf(name), []);
  const value = useSignal<T>(JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? initial);
  const latest = useRef(isKept);
  latest.current = isKept;
  // `useSignalEffect` would start only after the page was painted, so a reload before that would lose input.
  useLayoutEffect(
    () =>
      effect(() => {
        if (latest.current(value.value)) sessionStorage.setItem(key, JSON.stringify(value.value));
        else sessionStorage.removeItem(key);
      }),
    [],
  );
  return value;
}

/** Forgets the input on this page, because it was saved or the user does not want it. */
export const forgetDraft = (): void => forgetAll(keyOf(''));

/** Forgets the input on all pages, because the user signs out. */
export const forgetDrafts = (): void => forgetAll(PREFIX);

function forgetAll(prefix: string): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
}
