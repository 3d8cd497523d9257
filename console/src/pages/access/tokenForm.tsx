import { createToken } from '../../api/server.ts';
import type { ApiToken, Schemas } from '../../api/types.ts';
import { account, may, session } from '../../session.ts';
import { useDraft } from '../../ui/form/draft.ts';
import { CheckField, TextField } from '../../ui/form/fields.tsx';
import { CreationDialog } from './creation.tsx';
import type { FormProps } from './secretSection.tsx';
import { isServerPermission, PERMISSIONS } from './texts.ts';

/**
 * Form for a new token. It offers only permissions of the user's own token, and all accounts only if that has all.
 */
export function TokenForm({ close, made }: FormProps<ApiToken>) {
  const expiresOn = session.value?.expires_on;
  const label = useDraft('label', '');
  const accounts = useDraft('accounts', account.value);
  const allAccounts = useDraft('allAccounts', false);
  const permissions = useDraft<readonly string[]>('permissions', ['dns_protection:read']);
  const days = useDraft('days', expiresOn === undefined ? '90' : '');
  const offered = Object.keys(PERMISSIONS).filter(
    (permission) => may(permission) && (allAccounts.value || !isServerPermission(permission)),
  );
  const body = (): Schemas['ApiTokenCreation'] => ({
    ...(label.value.trim() && { label: label.value.trim() }),
    ...(allAccounts.value
      ? { all_accounts: true }
      : { accounts: accounts.value.split(/[\s,]+/).filter((id) => id !== '') }),
    permissions: permissions.value.filter((one) => offered.includes(one)) as ApiToken['permissions'],
  });
  return (
    <CreationDialog
      what="token"
      create={createToken}
      body={body}
      days={days}
      expiresOn={expiresOn}
      close={close}
      made={made}
    >
      <TextField label="Label" name="label" maxLength={64} placeholder="dashboard" text={label} />
      <fieldset>
        <legend>Accounts</legend>
        {session.value?.all_accounts && (
          <CheckField
            label="All accounts, and permissions for the server"
            name="all"
            checked={allAccounts.value}
            change={(isWanted) => (allAccounts.value = isWanted)}
          />
        )}
        {!allAccounts.value && (
          <TextField label="Account ids, separated by spaces" name="accounts" required text={accounts} />
        )}
      </fieldset>
      <fieldset>
        <legend>Permissions</legend>
        {offered.map((permission) => (
          <CheckField
            key={permission}
            label={
              <>
                {PERMISSIONS[permission]} <code class="quiet">{permission}</code>
              </>
            }
            name={permission}
            checked={permissions.value.includes(permission)}
            change={(isWanted) => {
              const others = permissions.value.filter((one) => one !== permission);
              permissions.value = isWanted ? [...others, permission] : others;
            }}
          />
        ))}
      </fieldset>
    </CreationDialog>
  );
}
