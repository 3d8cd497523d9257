import { useSignal } from '@preact/signals';
import { type ApiToken, revokeToken, type WithSecret } from '../../api/access.ts';
import type { Failure } from '../../api/failure.ts';
import { account, may, session } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { confirm } from '../../ui/form/confirm.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import type { Reads } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { actorOf } from '../activity/texts.ts';
import { formatQuantity } from '../traces/frames/ether.ts';
import { Expiry, Status } from './cells.tsx';
import { Secret } from './secret.tsx';
import { activeOnly } from './texts.ts';
import { TokenForm } from './tokenForm.tsx';

export function TokenSection({ reads }: { readonly reads: Reads<readonly ApiToken[]> }) {
  const tokens = reads.loaded.value.value;
  const changed = reads.again;
  const isMaking = useSignal(false);
  const made = useSignal<WithSecret<ApiToken> | undefined>(undefined);
  const showsAll = useSignal(false);
  const revokeFailure = useSignal<Failure | undefined>(undefined);
  const isManager = may('tokens:write');
  const revoke = async (token: ApiToken) => {
    const name = token.label || token.id;
    const isOwn = token.id === session.value?.tokenId;
    const isWanted = await confirm({
      title: 'Revoke this token?',
      text: `Requests with ${name} and with the tokens that it created are rejected from now on. This cannot be undone.${isOwn ? ' You are signed in with this token, and will be signed out.' : ''}`,
      ...{ action: 'Revoke', isHarmful: true, typed: name },
    });
    if (!isWanted) return;
    const answer = await revokeToken(token.id);
    revokeFailure.value = 'failure' in answer ? answer.failure : undefined;
    if ('value' in answer) showToast([`${name} is revoked.`, ...answer.value.messages].join(' '));
    changed();
  };
  const valid = activeOnly(tokens ?? []);
  const shown = (showsAll.value ? (tokens ?? []) : valid).toReversed();
  const gone = (tokens?.length ?? 0) - valid.length;
  return (
    <section class="access-section" aria-busy={tokens === undefined}>
      <div class="head">
        <h2>Tokens of the rules API and this console</h2>
        {isManager && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              isMaking.value = true;
            }}
          >
            New token
          </button>
        )}
      </div>
      <LoadState of={reads} what="the tokens" />
      {revokeFailure.value && <ErrorBox failure={revokeFailure.value} />}
      {tokens !== undefined && shown.length === 0 && (
        <EmptyState
          title="No tokens besides the server’s own"
          lines={`floodgate token create --account ${account.value} --permission read --expires 90d`}
        >
          The server’s own token is set in its configuration, and not listed here. Create a token for each
          program, so that each can be revoked separately:
        </EmptyState>
      )}
      {shown.length > 0 && (
        <Table
          caption="Tokens"
          isWide
          columns={columns(isManager ? (token) => void revoke(token) : undefined)}
          rows={shown}
          keyOf={({ id }) => id}
          isMarked={({ id }) => id === session.value?.tokenId}
        />
      )}
      {gone > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={showsAll.value}
            onChange={(event) => {
              showsAll.value = event.currentTarget.checked;
            }}
          />
          Show revoked and expired tokens ({formatQuantity(gone)})
        </label>
      )}
      {isMaking.value && (
        <TokenForm
          close={() => {
            isMaking.value = false;
          }}
          made={(token) => {
            isMaking.value = false;
            made.value = token;
            changed();
          }}
        />
      )}
      {made.value && (
        <Secret
          title="The new token"
          secret={made.value.value}
          use={`curl -H "Authorization: Bearer $FLOODGATE_TOKEN" '${location.origin}/client/v4/user/tokens/verify'`}
          close={() => {
            made.value = undefined;
          }}
        />
      )}
    </section>
  );
}

/** Returns whether the user's own token may revoke `token`: it must have all accounts and permissions of `token`. */
function isWithin(token: ApiToken): boolean {
  const accounts: 'all' | readonly string[] = session.value?.accounts ?? [];
  const isOfAccounts =
    accounts === 'all' ||
    (!token.all_accounts && token.accounts.every((account) => accounts.includes(account)));
  return isOfAccounts && token.permissions.every((permission) => may(permission));
}

function columns(revoke: ((token: ApiToken) => void) | undefined): readonly Column<ApiToken>[] {
  return [
    {
      title: 'Token',
      cell: ({ id, label }) => (
        <>
          {label && <UntrustedText text={label} />}{' '}
          <code class="quiet" title={id}>
            {id.slice(0, 8)}
          </code>
          {id === session.value?.tokenId && <span class="quiet"> (you)</span>}
        </>
      ),
    },
    { title: 'Status', cell: ({ status }) => <Status status={status} /> },
    {
      title: 'Accounts',
      cell: ({ all_accounts, accounts }) =>
        all_accounts ? 'all accounts' : <UntrustedText text={accounts.join(', ')} />,
    },
    {
      title: 'Permissions',
      cell: ({ permissions }) => <span class="permissions">{permissions.join(', ')}</span>,
    },
    { title: 'Expires', cell: ({ expires_on }) => <Expiry at={expires_on} /> },
    {
      title: 'Last used',
      cell: ({ last_used_on }) =>
        last_used_on ? <Time at={last_used_on} /> : <span class="quiet">never</span>,
    },
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
    ...(revoke
      ? [
          {
            ...{ title: 'Action', isNumber: true },
            cell: (token: ApiToken) =>
              token.status === 'active' && isWithin(token) ? (
                <button type="button" onClick={() => revoke(token)}>
                  Revoke
                </button>
              ) : null,
          },
        ]
      : []),
  ];
}
