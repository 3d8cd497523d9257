import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import {
  type ApiToken,
  type ApiTokenCreation,
  createToken,
  newRetryKey,
  type WithSecret,
} from '../../api/access.ts';
import type { Failure } from '../../api/failure.ts';
import { account, may, session } from '../../session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { inDays, LIVES, ofServer, PERMISSIONS } from './words.ts';

interface TokenFormProps {
  readonly close: () => void;
  readonly made: (token: WithSecret<ApiToken>) => void;
}

/** Offers what the own token may grant, and no more. */
export function TokenForm({ close, made }: TokenFormProps) {
  const isForAll = session.value?.accounts === 'all';
  const own = session.value?.expiresOn;
  const label = useSignal('');
  const accounts = useSignal(account.value);
  const allAccounts = useSignal(false);
  const permissions = useSignal<readonly string[]>(['dns_protection:read']);
  const days = useSignal(own === undefined ? '90' : '');
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  const sent = useMemo(
    () => new Map<string, { readonly body: ApiTokenCreation; readonly retryKey: string }>(),
    [],
  );
  const offered = Object.keys(PERMISSIONS).filter(
    (permission) => may(permission) && (allAccounts.value || !ofServer(permission)),
  );
  const submit = async (event: Event) => {
    event.preventDefault();
    const body: ApiTokenCreation = {
      ...(label.value.trim() && { label: label.value.trim() }),
      ...(allAccounts.value
        ? { all_accounts: true }
        : { accounts: accounts.value.split(/[\s,]+/).filter((id) => id !== '') }),
      permissions: permissions.value.filter((one) =>
        offered.includes(one),
      ) as ApiTokenCreation['permissions'],
      ...(days.value !== '' && { expires_on: inDays(days.value, Date.now()) }),
    };
    // What was chosen makes it the same request, whose body and retry key are sent again; else the moment of expiry would move on.
    const chosen = JSON.stringify({ ...body, expires_on: days.value });
    const asked = sent.get(chosen) ?? { body, retryKey: newRetryKey() };
    sent.set(chosen, asked);
    isBusy.value = true;
    const answer = await createToken(asked.body, asked.retryKey);
    isBusy.value = false;
    if ('value' in answer) made(answer.value.result);
    else failure.value = answer.failure;
  };
  return (
    <Dialog title="New token" close={close}>
      <form onSubmit={submit}>
        {failure.value && <ErrorBox failure={failure.value} />}
        <label>
          What it is for
          <input
            name="label"
            maxLength={64}
            autocomplete="off"
            placeholder="dashboard"
            value={label.value}
            onInput={(event) => {
              label.value = event.currentTarget.value;
            }}
          />
        </label>
        <fieldset>
          <legend>Accounts</legend>
          {isForAll && (
            <label class="check">
              <input
                type="checkbox"
                name="all"
                checked={allAccounts.value}
                onChange={(event) => {
                  allAccounts.value = event.currentTarget.checked;
                }}
              />
              All of them, and what is of the server
            </label>
          )}
          {!allAccounts.value && (
            <label>
              Account ids, separated by blanks
              <input
                name="accounts"
                required
                autocomplete="off"
                spellcheck={false}
                value={accounts.value}
                onInput={(event) => {
                  accounts.value = event.currentTarget.value;
                }}
              />
            </label>
          )}
        </fieldset>
        <fieldset>
          <legend>It may</legend>
          {offered.map((permission) => (
            <label key={permission} class="check">
              <input
                type="checkbox"
                name={permission}
                checked={permissions.value.includes(permission)}
                onChange={(event) => {
                  const others = permissions.value.filter((one) => one !== permission);
                  permissions.value = event.currentTarget.checked ? [...others, permission] : others;
                }}
              />
              <span>
                {PERMISSIONS[permission]} <code class="quiet">{permission}</code>
              </span>
            </label>
          ))}
        </fieldset>
        <label>
          Valid for
          <select
            value={days.value}
            onChange={(event) => {
              days.value = event.currentTarget.value;
            }}
          >
            {LIVES.filter(
              ([life]) => own === undefined || inDays(life, Date.now()) < new Date(own).toISOString(),
            ).map(([life, word]) => (
              <option key={life} value={life}>
                {word}
              </option>
            ))}
            <option value="">{own === undefined ? 'ever' : 'as long as yours'}</option>
          </select>
        </label>
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Create it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
