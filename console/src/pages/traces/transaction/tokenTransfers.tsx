import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { EmptyState } from '../../../ui/emptyState.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { UntrustedText } from '../../../ui/value/untrustedText.tsx';
import { formatDecimals, formatQuantity } from '../frames/ether.ts';
import { loadTokens, tokenKey, tokens } from '../names/tokens.ts';
import { AddressLink, ShowMore } from '../parts.tsx';
import type { TokenTransfer } from './transfers.ts';

interface TokenTransfersProps {
  readonly transfers: readonly TokenTransfer[];
  readonly network: string;
}

const SHOWN = 50;

export function TokenTransfers({ transfers, network }: TokenTransfersProps) {
  const shown = useSignal(SHOWN);
  const rows = transfers.slice(0, shown.value);
  useEffect(() => {
    const abort = new AbortController();
    void loadTokens(
      network,
      rows.map(({ token }) => token),
      abort.signal,
    );
    return () => abort.abort();
  }, [network, transfers, shown.value]);
  if (transfers.length === 0) return <EmptyState title="No token transfers" />;
  return (
    <>
      <p class="quiet">
        As the contracts logged them. Symbols and decimals come from the contracts and are not verified.
      </p>
      <Table caption="Token transfers" columns={columnsOf(network)} rows={rows} keyOf={({ key }) => key} />
      <ShowMore left={transfers.length - shown.value} more={() => (shown.value += SHOWN)} />
    </>
  );
}

const columnsOf = (network: string): readonly Column<TokenTransfer>[] => [
  { title: 'From', cell: ({ from }) => <AddressLink address={from} network={network} /> },
  { title: 'To', cell: ({ to }) => <AddressLink address={to} network={network} /> },
  { title: 'Amount', isNumber: true, cell: (transfer) => <Amount transfer={transfer} network={network} /> },
  {
    title: 'Token',
    cell: ({ token }) => {
      const symbol = tokens.value.get(tokenKey(network, token))?.symbol;
      return (
        <span class="ends">
          {symbol !== undefined && <UntrustedText text={symbol} />}
          <AddressLink address={token} network={network} />
        </span>
      );
    },
  },
];

function Amount({ transfer: { token, amount, id }, network }: { transfer: TokenTransfer; network: string }) {
  const decimals = tokens.value.get(tokenKey(network, token))?.decimals;
  const number =
    id !== undefined || decimals === undefined ? formatQuantity(amount) : formatDecimals(amount, decimals);
  return (
    <>
      {number}
      {id !== undefined ? (
        <>
          {' × #'}
          <UntrustedText text={id} />
        </>
      ) : (
        decimals === undefined && <span class="quiet"> units</span>
      )}
    </>
  );
}
