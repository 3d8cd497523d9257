import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Plain } from './plain.tsx';

/** So long a change can be taken back by one key. */
const UNDO_MS = 10_000;

interface Offer {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | undefined;
}

const offer = signal<Offer | undefined>();
let count = 0;

/** Says what was changed and, for ten seconds, takes it back. Without `undo` it only says so. */
export function tell(text: string, undo?: () => void): void {
  offer.value = { id: ++count, text, undo };
}

export function UndoPlace() {
  const shown = offer.value;
  useEffect(() => {
    if (shown === undefined) return undefined;
    const timer = setTimeout(() => {
      if (offer.peek()?.id === shown.id) offer.value = undefined;
    }, UNDO_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div class="undo-place" role="status">
      {shown && (
        <p class="undo">
          <Plain text={shown.text} />
          {shown.undo && (
            <button
              type="button"
              onClick={() => {
                offer.value = undefined;
                shown.undo?.();
              }}
            >
              Undo
            </button>
          )}
          <button type="button" aria-label="Close" onClick={() => (offer.value = undefined)}>
            ✕
          </button>
        </p>
      )}
    </div>
  );
}
