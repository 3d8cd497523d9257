import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Failure, Outcome } from '../api/failure.ts';
import { connection } from '../live.ts';

export interface Loaded<T> {
  /** The value that was read last. It is kept while the next read runs, and if that read fails. */
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

export interface Reads<T> {
  readonly loaded: ReadonlySignal<Loaded<T>>;
  /** Reads again. */
  readonly again: () => void;
}

/**
 * Hook that calls `read` at once, and again when a value of `on` changes. The result of a read is ignored if a later
 * read has begun. While `isHeld`, for example during a deletion of the object, nothing is read; after that, it reads
 * again.
 */
export function useLoaded<T>(
  read: () => Promise<Outcome<T>>,
  on: readonly unknown[],
  isHeld = false,
): Reads<T> {
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
  // `read` itself is not listed, because `on` contains everything that it depends on.
  useEffect(() => {
    if (!isHeld) void again();
    return () => {
      turn.current++;
    };
  }, [...on, isHeld]);
  // What could not be read while the server was away is read when the page is live again.
  useSignalEffect(() => {
    const { failure } = loaded.peek();
    if (connection.value === 'live' && failure !== undefined && failure.status === undefined) void again();
  });
  return { loaded, again: () => void again() };
}
