import { useSignal } from '@preact/signals';
import { revokeToken } from '../../api/server.ts';
import type { ApiToken } from '../../api/types.ts';
import { account, may, session } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { CheckField } from '../../ui/form/fields.tsx';
import type { Column } from '../../ui/table/table.tsx';
import type { Reads } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { actorOf } from '../activity/texts.ts';
import { formatQuantity } from '../traces/frames/ether.ts';
import { commonColumns, SecretSection, statusColumn } from './secretSection.tsx';
import { activeOnly } from './texts.ts';
import { TokenForm } from './tokenForm.tsx';

const isOwn = ({ id }: ApiToken): boolean => id === session.value?.id;
const nameOf = ({ label, id }: ApiToken): string => label || id;

export function TokenSection({ reads }: { readonly reads: Reads<readonly ApiToken[]> }) {
  const tokens = reads.value ?? [];
  const showsAll = useSignal(false);
  const valid = activeOnly(tokens);
  const gone = tokens.length - valid.length;
  return (
    <SecretSection
      what="token"
      title="Tokens of the rules API and this console"
      reads={reads}
      columns={columns}
      isRevocable={isRevocable}
      nameOf={nameOf}
      revoke={revokeToken}
      isMarked={isOwn}
      rows={(showsAll.value ? tokens : valid).toReversed()}
      isManager={may('tokens:write')}
      consequenceOf={(token) =>
        `Requests with ${nameOf(token)} and with the tokens that it created are rejected from now on. This cannot be undone.${isOwn(token) ? ' You are signed in with this token, and will be signed out.' : ''}`
      }
      form={(props) => <TokenForm {...props} />}
      use={`curl -H "Authorization: Bearer $FLOODGATE_TOKEN" '${location.origin}/client/v4/user/tokens/verify'`}
      empty={
        <EmptyState
          title="No tokens besides the server’s own"
          lines={`floodgate token create --account ${account.value} --permission read --expires 90d`}
        >
          The server’s own token is set in its configuration, and not listed here. Create a token for each
          program, so that each can be revoked separately:
        </EmptyState>
      }
    >
      {gone > 0 && (
        <CheckField
          label={`Show revoked and expired tokens (${formatQuantity(gone)})`}
          checked={showsAll.value}
          change={(isWanted) => (showsAll.value = isWanted)}
        />
      )}
    </SecretSection>
  );
}

/** Returns whether the user's own token may revoke a token: it must have all accounts and permissions of that token. */
function isRevocable({ all_accounts, accounts, permissions }: ApiToken): boolean {
  const own = session.value;
  const isOfAccounts =
    own?.all_accounts || (!all_accounts && accounts.every((account) => own?.accounts.includes(account)));
  return isOfAccounts && permissions.every((permission) => may(permission));
}

const columns: readonly Column<ApiToken>[] = [
  {
    title: 'Token',
    cell: (token) => (
      <>
        {token.label && <UntrustedText text={token.label} />}{' '}
        <code class="quiet" title={token.id}>
          {token.id.slice(0, 8)}
        </code>
        {isOwn(token) && <span class="quiet"> (you)</span>}
      </>
    ),
  },
  statusColumn,
  {
    title: 'Accounts',
    cell: ({ all_accounts, accounts }) =>
      all_accounts ? 'all accounts' : <UntrustedText text={accounts.join(', ')} />,
  },
  {
    title: 'Permissions',
    cell: ({ permissions }) => <span class="permissions">{permissions.join(', ')}</span>,
  },
  ...commonColumns,
  {
    title: 'Requests',
    isNumber: true,
    cell: ({ requests: { count, rejected } }) => (
      <span title="Since server start">
        {formatQuantity(count)}
        {rejected > 0 && <span class="look"> ▲ {formatQuantity(rejected)} rejected</span>}
      </span>
    ),
  },
  {
    title: 'Created by',
    cell: ({ created_by, created_on }) => (
      <span class="made">
        <UntrustedText text={created_by === undefined ? '?' : actorOf({ by: created_by }).name} />{' '}
        <span class="quiet">
          <Time at={created_on} />
        </span>
      </span>
    ),
  },
];
