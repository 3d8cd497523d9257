import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Failure, Outcome } from '../api/failure.ts';

export interface Loaded<T> {
  /** The last value that was read. It stays while the next read runs, and if that read fails. */
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

/**
 * Reads at once, and again when a value of `on` changes. Ignores the result of a read if a later read has begun. Does
 * not read while `isHeld`, for example while the object is being deleted; reads again after that.
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
  // `on` contains everything that `read` depends on, so `read` itself is not listed.
  useEffect(() => {
    if (!isHeld) void again();
    return () => {
      turn.current++;
    };
  }, [...on, isHeld]);
  return { loaded, again: () => void again() };
}
