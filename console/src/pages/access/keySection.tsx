import { gateway, readGateway } from '../../api/gateway.ts';
import { revokeKey } from '../../api/server.ts';
import type { GatewayKey } from '../../api/types.ts';
import { may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import type { Column } from '../../ui/table/table.tsx';
import type { Reads } from '../../ui/useLoaded.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { formatQuantity } from '../traces/frames/ether.ts';
import { KeyForm } from './keyForm.tsx';
import { commonColumns, SecretSection, statusColumn } from './secretSection.tsx';

export function KeySection({ reads }: { readonly reads: Reads<readonly GatewayKey[]> }) {
  const keys = reads.value;
  const network = gateway.value?.networks[0]?.network ?? 'mainnet';
  return (
    <SecretSection
      what="key"
      title="API keys of the gateway"
      reads={reads}
      columns={columns}
      rows={keys?.toReversed() ?? []}
      revoke={revokeKey}
      isManager={may('keys:write')}
      isRevocable={() => true}
      nameOf={({ name }) => name}
      consequenceOf={({ name }) =>
        `Requests with ${name} are rejected from now on, and its WebSockets are closed. This cannot be undone. The gateway still requires keys.`
      }
      // If no API key was ever created, the next one is the first.
      form={(props) => <KeyForm isFirst={keys?.length === 0} {...props} />}
      use={`curl '${location.origin}/v1/${network}' -H "Authorization: Bearer $FLOODGATE_KEY" -H 'Content-Type: application/json' --data '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}'`}
      changed={() => void readGateway()}
      empty={
        <EmptyState title="The gateway is open" lines="floodgate key create --name explorer --rate 50">
          Every client that reaches the gateway may call it. After the first key is created, each request
          needs a key, even if all keys are revoked.
        </EmptyState>
      }
    />
  );
}

const columns: readonly Column<GatewayKey>[] = [
  {
    title: 'Key',
    cell: ({ id, name }) => (
      <>
        <UntrustedText text={name} /> <code class="quiet">{id}</code>
      </>
    ),
  },
  statusColumn,
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
  ...commonColumns,
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
];
