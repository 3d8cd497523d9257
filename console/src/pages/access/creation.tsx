import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ApiResponse } from '../../api/client.ts';
import type { Outcome } from '../../api/failure.ts';
import { newRetryKey, type WithSecret } from '../../api/server.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Dialog } from '../../ui/form/dialog.tsx';
import { SelectField } from '../../ui/form/fields.tsx';
import { useAction } from '../../ui/useAction.ts';
import { expiryAfterDays, LIFETIMES } from './texts.ts';

interface CreationDialogProps<Body extends object, Made> {
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

export function CreationDialog<Body extends object, Made>(props: CreationDialogProps<Body, Made>) {
  const { what, days, expiresOn, close } = props;
  const { failure, isBusy, run } = useAction();
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
    const answer = await run(props.create(asked.body, asked.retryKey));
    if ('value' in answer) props.made(answer.value.result);
  };
  return (
    <Dialog title={`New ${what}`} close={close}>
      <form onSubmit={submit}>
        {failure && <ErrorBox failure={failure} />}
        {props.children}
        <SelectField
          label="Valid for"
          chosen={days}
          options={[
            ...LIFETIMES.filter(
              ([life]) =>
                expiresOn === undefined ||
                expiryAfterDays(life, Date.now()) < new Date(expiresOn).toISOString(),
            ),
            ['', expiresOn === undefined ? 'unlimited time' : 'as long as your token'],
          ]}
        />
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Create {what.split(' ').at(-1)}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
