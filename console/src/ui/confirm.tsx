import { signal, useSignal } from '@preact/signals';
import { Dialog } from './dialog.tsx';
import { Plain } from './plain.tsx';

export interface Question {
  /** Names the thing: `Delete the rule for lax?` */
  readonly title: string;
  /** What would be then: `Queries there fall back to the rule for WNAM.` */
  readonly text: string;
  /** What the button says: `Delete`. */
  readonly action: string;
  readonly isHarmful?: boolean;
  /** Must be typed first: the name of what would be gone for good. */
  readonly typed?: string;
}

const asked = signal<
  { readonly question: Question; readonly answer: (isWanted: boolean) => void } | undefined
>();

/** Asks once; false where it was closed. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      question,
      answer(isWanted) {
        asked.value = undefined;
        resolve(isWanted);
      },
    };
  });
}

export function ConfirmPlace() {
  if (asked.value === undefined) return null;
  const { question, answer } = asked.value;
  return <Asked key={question.title} question={question} answer={answer} />;
}

interface AskedProps {
  readonly question: Question;
  readonly answer: (isWanted: boolean) => void;
}

function Asked({ question: { title, text, action, isHarmful = false, typed }, answer }: AskedProps) {
  const written = useSignal('');
  const isReady = typed === undefined || written.value.trim() === typed;
  return (
    <Dialog title={title} close={() => answer(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) answer(true);
        }}
      >
        <p>
          <Plain text={text} />
        </p>
        {typed !== undefined && (
          <label>
            <span>
              Write{' '}
              <strong>
                <Plain text={typed} />
              </strong>{' '}
              to go on
            </span>
            <input
              name="typed"
              autocomplete="off"
              spellcheck={false}
              value={written.value}
              onInput={(event) => {
                written.value = event.currentTarget.value;
              }}
            />
          </label>
        )}
        <div class="actions">
          <button type="button" onClick={() => answer(false)}>
            Cancel
          </button>
          <button type="submit" class={isHarmful ? 'harmful' : 'primary'} disabled={!isReady}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
