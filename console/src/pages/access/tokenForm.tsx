import { type Signal, useSignal } from '@preact/signals';
import { type ApiToken, type ApiTokenCreation, createToken, type WithSecret } from '../../api/access.ts';
import { account, may, session } from '../../session.ts';
import { TextInput } from '../../ui/form/textInput.tsx';
import { CreationDialog } from './creation.tsx';
import { isServerPermission, PERMISSIONS } from './texts.ts';

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
  const offered = Object.keys(PERMISSIONS).filter(
    (permission) => may(permission) && (allAccounts.value || !isServerPermission(permission)),
  );
  const body = (): ApiTokenCreation => ({
    ...(label.value.trim() && { label: label.value.trim() }),
    ...(allAccounts.value
      ? { all_accounts: true }
      : { accounts: accounts.value.split(/[\s,]+/).filter((id) => id !== '') }),
    permissions: permissions.value.filter((one) => offered.includes(one)) as ApiTokenCreation['permissions'],
  });
  return (
    <CreationDialog what="token" create={createToken} {...{ body, days, expiresOn, close, made }}>
      <label>
        Label
        <TextInput name="label" maxLength={64} placeholder="dashboard" text={label} />
      </label>
      <AccountChoice accounts={accounts} allAccounts={allAccounts} />
      <PermissionChoice offered={offered} permissions={permissions} />
    </CreationDialog>
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
