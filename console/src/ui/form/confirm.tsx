import { signal, useSignal } from '@preact/signals';
import { UntrustedText } from '../value/untrustedText.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';

export interface Question {
  /** Question that names the object: `Delete the rule for lax?` */
  readonly title: string;
  /** Consequence of the action: `Queries there fall back to the rule for WNAM.` */
  readonly text: string;
  readonly action: string;
  readonly isHarmful?: boolean;
  /** Name of the object. If it is set, the user must type it to confirm. */
  readonly typed?: string;
}

const pendingQuestion = signal<
  { readonly question: Question; readonly answer: (isWanted: boolean) => void } | undefined
>();

/** Shows a confirmation dialog. Resolves to false if the user closes it or if another dialog replaces it. */
export function confirm(question: Question): Promise<boolean> {
  pendingQuestion.value?.answer(false);
  return new Promise((resolve) => {
    pendingQuestion.value = {
      question,
      answer(isWanted) {
        pendingQuestion.value = undefined;
        resolve(isWanted);
      },
    };
  });
}

export function ConfirmHost() {
  if (pendingQuestion.value === undefined) return null;
  const { question, answer } = pendingQuestion.value;
  return <ConfirmDialog key={question.title} question={question} answer={answer} />;
}

function ConfirmDialog({
  question: { title, text, action, isHarmful = false, typed },
  answer,
}: {
  readonly question: Question;
  readonly answer: (isWanted: boolean) => void;
}) {
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
        <UntrustedText as="p" text={text} />
        {typed !== undefined && (
          <TextField
            label={
              <span>
                Type <UntrustedText as="strong" text={typed} /> to continue
              </span>
            }
            name="typed"
            text={written}
          />
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
