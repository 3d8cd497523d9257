import { EmptyState } from '../../../ui/emptyState.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { useFirst } from '../../../ui/table/useFirst.tsx';
import { UntrustedText } from '../../../ui/value/untrustedText.tsx';
import { formatDecimals, formatQuantity } from '../frames/ether.ts';
import { tokens } from '../names/tokens.ts';
import { AddressLink } from '../parts.tsx';
import { useNetwork } from '../traceUrl.ts';
import type { TokenTransfer } from './transfers.ts';

export function TokenTransfers({ transfers }: { readonly transfers: readonly TokenTransfer[] }) {
  const { first: rows, showMore } = useFirst(transfers);
  tokens.useValues(rows.map(({ token }) => token));
  if (transfers.length === 0) return <EmptyState title="No token transfers" />;
  return (
    <>
      <p class="quiet">
        As the contracts logged them. Symbols and decimals come from the contracts and are not verified.
      </p>
      <Table caption="Token transfers" columns={columns} rows={rows} keyOf={({ key }) => key} isWhole />
      {showMore}
    </>
  );
}

const columns: readonly Column<TokenTransfer>[] = [
  { title: 'From', cell: ({ from }) => <AddressLink address={from} /> },
  { title: 'To', cell: ({ to }) => <AddressLink address={to} /> },
  { title: 'Amount', isNumber: true, cell: (transfer) => <Amount transfer={transfer} /> },
  { title: 'Token', cell: ({ token }) => <Token address={token} /> },
];

function Token({ address }: { readonly address: string }) {
  const symbol = tokens.get(useNetwork(), address)?.symbol;
  return (
    <span class="ends">
      {symbol !== undefined && <UntrustedText text={symbol} />}
      <AddressLink address={address} />
    </span>
  );
}

function Amount({ transfer: { token, amount, id } }: { readonly transfer: TokenTransfer }) {
  const decimals = tokens.get(useNetwork(), token)?.decimals;
  if (id !== undefined)
    return (
      <>
        {formatQuantity(amount)} × #<UntrustedText text={id} />
      </>
    );
  if (decimals !== undefined) return <>{formatDecimals(amount, decimals)}</>;
  return (
    <>
      {formatQuantity(amount)}
      <span class="quiet"> units</span>
    </>
  );
}
