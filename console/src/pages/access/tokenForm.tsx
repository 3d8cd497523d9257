import { type Signal, useSignal } from '@preact/signals';
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
import { TextInput } from '../../ui/textInput.tsx';
import { expiryAfterDays, isServerPermission, LIFETIMES, PERMISSIONS } from './texts.ts';

interface TokenFormProps {
  readonly close: () => void;
  readonly made: (token: WithSecret<ApiToken>) => void;
}

/**
 * Form for a new token. It offers only permissions of the user's own token, and all accounts only if that has all.
 */
export function TokenForm({ close, made }: TokenFormProps) {
  const expiresOn = session.value?.expiresOn;
  const label = useSignal('');
  const accounts = useSignal(account.value);
  const allAccounts = useSignal(false);
  const permissions = useSignal<readonly string[]>(['dns_protection:read']);
  const days = useSignal(expiresOn === undefined ? '90' : '');
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  const sent = useMemo(
    () => new Map<string, { readonly body: ApiTokenCreation; readonly retryKey: string }>(),
    [],
  );
  const offered = Object.keys(PERMISSIONS).filter(
    (permission) => may(permission) && (allAccounts.value || !isServerPermission(permission)),
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
      ...(days.value !== '' && { expires_on: expiryAfterDays(days.value, Date.now()) }),
    };
    // A retry with the same choices sends the stored body. A new body would have a later expiry and not match the
    // retry key.
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
          Label
          <TextInput name="label" maxLength={64} placeholder="dashboard" text={label} />
        </label>
        <AccountChoice accounts={accounts} allAccounts={allAccounts} />
        <PermissionChoice offered={offered} permissions={permissions} />
        <LifeChoice days={days} expiresOn={expiresOn} />
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Create token
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface AccountChoiceProps {
  readonly accounts: Signal<string>;
  readonly allAccounts: Signal<boolean>;
}

function AccountChoice({ accounts, allAccounts }: AccountChoiceProps) {
  return (
    <fieldset>
      <legend>Accounts</legend>
      {session.value?.accounts === 'all' && (
        <label class="check">
          <input
            type="checkbox"
            name="all"
            checked={allAccounts.value}
            onChange={(event) => {
              allAccounts.value = event.currentTarget.checked;
            }}
          />
          All accounts, and permissions for the server
        </label>
      )}
      {!allAccounts.value && (
        <label>
          Account ids, separated by spaces
          <TextInput name="accounts" required text={accounts} />
        </label>
      )}
    </fieldset>
  );
}

interface PermissionChoiceProps {
  readonly offered: readonly string[];
  readonly permissions: Signal<readonly string[]>;
}

function PermissionChoice({ offered, permissions }: PermissionChoiceProps) {
  return (
    <fieldset>
      <legend>Permissions</legend>
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
