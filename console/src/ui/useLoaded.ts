import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Failure, Outcome } from '../api/failure.ts';
import { connection, isStreamRejected } from '../live.ts';

/** Pause before a read is repeated that got no response. */
const RETRY_MS = 1_000;

export interface Loaded<T> {
  /** The value that was read last. It is kept while the next read runs, and if that read fails. */
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

export interface Reads<T> extends Loaded<T> {
  readonly again: () => void;
}

interface LoadOptions<T> {
  /** Whether nothing is read now, for example during a deletion of the object. Afterwards, it is read again. */
  readonly isHeld?: boolean;
  /**
   * Interval at which it is read again, unless the live stream finds no server. It can depend on the value that was
   * read last. Default: it is not read again.
   */
  readonly everyMs?: number | ((value: T | undefined) => number | undefined);
}

/**
 * Hook that calls `read`, if any, at once, and again when a value of `on` changes. The result of a read is ignored if
 * a value of `on` has changed, or if the result of a later read is shown.
 */
export function useLoaded<T>(
  read: (() => Promise<Outcome<T>>) | undefined | false,
  on: readonly unknown[],
  { isHeld = false, everyMs }: LoadOptions<T> = {},
): Reads<T> {
  const loaded = useSignal<Loaded<T>>({ value: undefined, failure: undefined });
  /** Number of the current state of `on`, and numbers of reads. */
  const state = useRef({ turn: 0, begun: 0, shown: 0 });
  const again = async () => {
    if (!read) return;
    const { turn } = state.current;
    const mine = ++state.current.begun;
    const outcome = await read();
    if (turn !== state.current.turn || mine < state.current.shown) return;
    state.current.shown = mine;
    loaded.value =
      'failure' in outcome
        ? { value: loaded.peek().value, failure: outcome.failure }
        : { value: outcome.value, failure: undefined };
  };
  const latest = useRef(again);
  latest.current = again;
  // `read` itself is not listed, because `on` contains everything that it depends on.
  useEffect(() => {
    if (!read) loaded.value = { value: undefined, failure: undefined };
    if (!isHeld) void again();
    return () => {
      state.current.turn++;
    };
  }, [...on, isHeld]);
  const intervalMs = typeof everyMs === 'function' ? everyMs(loaded.value.value) : everyMs;
  useEffect(() => {
    if (intervalMs === undefined || isHeld) return undefined;
    const timer = setInterval(() => {
      if (connection.peek() !== 'reconnecting' || isStreamRejected.peek()) void latest.current();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs, isHeld]);
  // A read without a response is repeated until the server answers.
  useSignalEffect(() => {
    const { failure } = loaded.value;
    if (failure === undefined || failure.status !== undefined) return undefined;
    const timer = setTimeout(() => void latest.current(), RETRY_MS);
    return () => clearTimeout(timer);
  });
  const { value, failure } = loaded.value;
  return { value, failure, again: () => void again() };
}
