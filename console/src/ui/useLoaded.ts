import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Failure, Outcome } from '../api/failure.ts';

export interface Loaded<T> {
  /** What came last; kept while it is read again, and where that fails. */
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

/**
 * Reads at once, and again when one of `on` changes; an answer that was overtaken is dropped.
 * Not where `isHeld`, as of what is just being deleted; what changed meanwhile is read behind it.
 */
export function useLoaded<T>(
  read: () => Promise<Outcome<T>>,
  on: readonly unknown[],
  isHeld = false,
): { readonly loaded: Signal<Loaded<T>>; readonly again: () => void } {
  const loaded = useSignal<Loaded<T>>({ value: undefined, failure: undefined });
  const turn = useRef(0);
  const again = async () => {
    const mine = ++turn.current;
    const outcome = await read();
    if (mine !== turn.current) return;
    loaded.value =
      'failure' in outcome
        ? { value: loaded.peek().value, failure: outcome.failure }
        : { value: outcome.value, failure: undefined };
  };
  // the caller says what it depends on
  useEffect(() => {
    if (!isHeld) void again();
    return () => {
      turn.current++;
    };
  }, [...on, isHeld]);
  return { loaded, again: () => void again() };
}
