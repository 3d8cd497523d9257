import { useSignal } from '@preact/signals';
import { type GatewayKey, revokeKey, type WithSecret } from '../../api/access.ts';
import type { Failure } from '../../api/failure.ts';
import { gateway, readGateway } from '../../api/gateway.ts';
import { may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { confirm } from '../../ui/form/confirm.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import type { Reads } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { formatQuantity } from '../traces/frames/ether.ts';
import { Expiry, Status } from './cells.tsx';
import { KeyForm } from './keyForm.tsx';
import { Secret } from './secret.tsx';

export function KeySection({ reads }: { readonly reads: Reads<readonly GatewayKey[]> }) {
  const keys = reads.loaded.value.value;
  const changed = reads.again;
  // No API key was ever created, so the next one is the first.
  const isFirst = keys?.length === 0;
  const isMaking = useSignal(false);
  const made = useSignal<WithSecret<GatewayKey> | undefined>(undefined);
  const revokeFailure = useSignal<Failure | undefined>(undefined);
  const isManager = may('keys:write');
  const network = gateway.value?.networks[0]?.network ?? 'mainnet';
  const revoke = async ({ id, name }: GatewayKey) => {
    const isWanted = await confirm({
      title: 'Revoke this key?',
      text: `Requests with ${name} are rejected from now on, and its WebSockets are closed. This cannot be undone. The gateway still requires keys.`,
      ...{ action: 'Revoke', isHarmful: true, typed: name },
    });
    if (!isWanted) return;
    const answer = await revokeKey(id);
    revokeFailure.value = 'failure' in answer ? answer.failure : undefined;
    if ('value' in answer) showToast(`${name} is revoked.`);
    changed();
  };
  return (
    <section class="access-section" aria-busy={keys === undefined}>
      <div class="head">
        <h2>API keys of the gateway</h2>
        {isManager && keys !== undefined && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              isMaking.value = true;
            }}
          >
            New key
          </button>
        )}
      </div>
      <LoadState of={reads} what="the keys" />
      {revokeFailure.value && <ErrorBox failure={revokeFailure.value} />}
      {isFirst && (
        <EmptyState title="The gateway is open" lines="floodgate key create --name explorer --rate 50">
          Every client that reaches the gateway may call it. After the first key is created, each request
          needs a key, even if all keys are revoked.
        </EmptyState>
      )}
      {keys !== undefined && keys.length > 0 && (
        <Table
          caption="API keys"
          columns={columns(isManager ? (key) => void revoke(key) : undefined)}
          rows={keys.toReversed()}
          keyOf={({ id }) => id}
        />
      )}
      {isMaking.value && (
        <KeyForm
          isFirst={isFirst}
          close={() => {
            isMaking.value = false;
          }}
          made={(key) => {
            isMaking.value = false;
            made.value = key;
            changed();
            void readGateway();
          }}
        />
      )}
      {made.value && (
        <Secret
          title="The new key"
          secret={made.value.value}
          use={`curl '${location.origin}/v1/${network}' -H "Authorization: Bearer $FLOODGATE_KEY" -H 'Content-Type: application/json' --data '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}'`}
          close={() => {
            made.value = undefined;
          }}
        />
      )}
    </section>
  );
}

function columns(revoke: ((key: GatewayKey) => void) | undefined): readonly Column<GatewayKey>[] {
  return [
    {
      title: 'Key',
      cell: ({ id, name }) => (
        <>
          <UntrustedText text={name} /> <code class="quiet">{id}</code>
        </>
      ),
    },
    { title: 'Status', cell: ({ status }) => <Status status={status} /> },
    {
      title: 'Limits',
      cell: ({ rate_per_second, methods, limits = {} }) => (
        <span class="permissions">
          {rate_per_second === undefined ? 'any rate' : `${formatQuantity(rate_per_second)} calls/s`},{' '}
          {methods === undefined ? 'all methods' : <UntrustedText text={methods.join(', ')} />}
          {Object.entries(limits).map(([name, limit]) => ` ${name} ${formatQuantity(limit)}`)}
        </span>
      ),
    },
    { title: 'Expires', cell: ({ expires_on }) => <Expiry at={expires_on} /> },
    {
      title: 'Last used',
      cell: ({ last_used_on }) =>
        last_used_on ? <Time at={last_used_on} /> : <span class="quiet">never</span>,
    },
    {
      title: 'Calls',
      isNumber: true,
      cell: ({ calls: { admitted, limited, forbidden } }) => (
        <span title="Since server start">
          {formatQuantity(admitted)}
          {limited > 0 && <span class="look"> ▲ {formatQuantity(limited)} over the rate limit</span>}
          {forbidden > 0 && <span class="look"> ▲ {formatQuantity(forbidden)} not allowed</span>}
        </span>
      ),
    },
    ...(revoke
      ? [
          {
            ...{ title: 'Action', isNumber: true },
            cell: (key: GatewayKey) =>
              key.status === 'active' ? (
                <button type="button" onClick={() => revoke(key)}>
                  Revoke
                </button>
              ) : null,
          },
        ]
      : []),
  ];
}
