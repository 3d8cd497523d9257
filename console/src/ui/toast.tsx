import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Failure, type Outcome, UNKNOWN } from '../api/failure.ts';
import { UntrustedText } from './value/untrustedText.tsx';

/** Time for which a message is shown, and the user can undo a change. */
const UNDO_MS = 10_000;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | undefined;
}

const toast = signal<Toast | undefined>();
let count = 0;

/** Shows a message for ten seconds. If `undo` is set, the message has a button that calls it. */
export function showToast(text: string, undo?: () => void): void {
  toast.value = { id: ++count, text, undo };
}

/** Shows why an action failed. `what`: `Not deleted`, which is shown only if it is known. */
export function showFailure(what: string, { still, what: cause, faults, todo }: Failure): void {
  const reasons = faults.map(({ message }) => `${message}.`);
  showToast([still === UNKNOWN ? still : `${what}.`, cause, ...reasons, todo].join(' '));
}

/** Shows whether a request succeeded. */
export const showOutcome = (outcome: Outcome<unknown>, done: string, failed = 'Not undone'): void =>
  'failure' in outcome ? showFailure(failed, outcome.failure) : showToast(done);

export function ToastHost() {
  const shown = toast.value;
  useEffect(() => {
    if (shown === undefined) return undefined;
    const timer = setTimeout(() => {
      if (toast.peek()?.id === shown.id) toast.value = undefined;
    }, UNDO_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div class="undo-place" role="status">
      {shown && (
        <p class="undo">
          <UntrustedText text={shown.text} />
          {shown.undo && (
            <button
              type="button"
              onClick={() => {
                toast.value = undefined;
                shown.undo?.();
              }}
            >
              Undo
            </button>
          )}
          <button type="button" aria-label="Close" onClick={() => (toast.value = undefined)}>
            ✕
          </button>
        </p>
      )}
    </div>
  );
}
