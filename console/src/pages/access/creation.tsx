import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { newRetryKey, type WithSecret } from '../../api/access.ts';
import type { ApiResponse } from '../../api/client.ts';
import type { Failure, Outcome } from '../../api/failure.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Dialog } from '../../ui/form/dialog.tsx';
import { expiryAfterDays, LIFETIMES } from './texts.ts';

interface CreationDialogProps<Body extends object, Made> {
  /** Kind of the new secret: `token` or `API key`. */
  readonly what: string;
  readonly create: (body: Body, retryKey: string) => Promise<Outcome<ApiResponse<WithSecret<Made>>>>;
  /** Returns the request, without its expiry. */
  readonly body: () => Body;
  readonly days: Signal<string>;
  /** Expiry of the token of this session, which a new token cannot exceed. */
  readonly expiresOn?: string | undefined;
  readonly close: () => void;
  readonly made: (made: WithSecret<Made>) => void;
  readonly children: ComponentChildren;
}

/** Dialog that creates a token or an API key. Its last field is the lifetime. */
export function CreationDialog<Body extends object, Made>(props: CreationDialogProps<Body, Made>) {
  const { what, days, close } = props;
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  const sent = useMemo(() => new Map<string, { readonly body: Body; readonly retryKey: string }>(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    const expiry = days.value === '' ? {} : { expires_on: expiryAfterDays(days.value, Date.now()) };
    const body = { ...props.body(), ...expiry };
    // A retry with the same choices sends the stored body. A new body would have a later expiry and not match the
    // retry key.
    const chosen = JSON.stringify({ ...body, expires_on: days.value });
    const asked = sent.get(chosen) ?? { body, retryKey: newRetryKey() };
    sent.set(chosen, asked);
    isBusy.value = true;
    const answer = await props.create(asked.body, asked.retryKey);
    isBusy.value = false;
    if ('value' in answer) props.made(answer.value.result);
    else failure.value = answer.failure;
  };
  return (
    <Dialog title={`New ${what}`} close={close}>
      <form onSubmit={submit}>
        {failure.value && <ErrorBox failure={failure.value} />}
        {props.children}
        <LifeChoice days={days} expiresOn={props.expiresOn} />
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Create {what.split(' ').at(-1)}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface LifeChoiceProps {
  readonly days: Signal<string>;
  readonly expiresOn: string | undefined;
}

function LifeChoice({ days, expiresOn }: LifeChoiceProps) {
  return (
    <label>
      Valid for
      <select
        value={days.value}
        onChange={(event) => {
          days.value = event.currentTarget.value;
        }}
      >
        {LIFETIMES.filter(
          ([life]) =>
            expiresOn === undefined || expiryAfterDays(life, Date.now()) < new Date(expiresOn).toISOString(),
        ).map(([life, word]) => (
          <option key={life} value={life}>
            {word}
          </option>
        ))}
        <option value="">{expiresOn === undefined ? 'unlimited time' : 'as long as your token'}</option>
      </select>
    </label>
  );
}
