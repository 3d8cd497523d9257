import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { subscribe } from '../../../api/subscription.ts';
import { EmptyState } from '../../../ui/emptyState.tsx';
import { ErrorBox } from '../../../ui/errorBox.tsx';
import { Link } from '../../../ui/link.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { useLoaded } from '../../../ui/useLoaded.ts';
import { Time } from '../../../ui/value/time.tsx';
import { Amount, decimalsIn } from '../amount.tsx';
import { timeOfHeader } from '../blockTimes.ts';
import type { Frame } from '../frames/callTree.ts';
import { partiesOf, valueMoved } from '../frames/describe.ts';
import { formatQuantity } from '../frames/ether.ts';
import { AddressLink, BlockLink, FrameLink } from '../parts.tsx';
import { linkTo } from '../traceUrl.ts';
import type { BlockHeader } from '../types.ts';
import { examplesOf, type Latest, readLatest } from './latest.ts';

/** Shows the latest blocks and internal transfers. Nothing is read while the user points at them. */
export function Landing({ network }: { readonly network: string }) {
  const heads = useSignal(0);
  const isLive = useSignal(false);
  const isHeld = useSignal(false);
  const isReading = useRef(false);
  const { loaded, again } = useLoaded(
    async () => {
      isReading.current = true;
      const answer = await readLatest(network, loaded.peek().value);
      isReading.current = false;
      return answer;
    },
    [network, heads.value],
    isHeld.value,
  );
  useEffect(
    () =>
      subscribe(network, ['newHeads'], {
        // On a fast chain, heads that arrive during a read are skipped. A later read includes their blocks.
        pushed: () => {
          if (!isReading.current) heads.value++;
        },
        state: (state) => {
          isLive.value = state === 'open';
        },
      }),
    [network],
  );
  const { value: latest, failure } = loaded.value;
  const hold = (isWanted: boolean) => () => {
    isHeld.value = isWanted;
  };
  return (
    <>
      <section class="subject-head">
        <h2>Search an address, a transaction or a block</h2>
        <p class="summary">
          An address has its history, including internal transfers; a transaction has its call tree.{' '}
          {latest && <Examples latest={latest} network={network} />}
        </p>
      </section>
      {failure && <ErrorBox failure={failure} retry={again} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: not interactive, only holds the rows below the pointer */}
      <div
        class="two-columns latest"
        aria-busy={latest === undefined && failure === undefined}
        onMouseEnter={hold(true)}
        onMouseLeave={hold(false)}
        onFocusIn={hold(true)}
        onFocusOut={hold(false)}
      >
        <section>
          <h2>
            Latest blocks{' '}
            <span class="state quiet">
              {isHeld.value ? 'paused while you point here' : isLive.value ? 'live' : ''}
            </span>
          </h2>
          {latest && <Rows caption="Latest blocks" columns={blockColumns(network)} items={latest.headers} />}
        </section>
        <section>
          <h2>Internal transfers of these blocks</h2>
          {latest && latest.transfers.length > 0 && (
            <Rows
              caption="Internal transfers"
              columns={transferColumns(network, latest.transfers)}
              items={latest.transfers}
            />
          )}
          {latest?.transfers.length === 0 && (
            <EmptyState title={latest.failure ? 'Not known' : 'No internal transfers'}>
              {latest.failure?.what ?? 'An internal transfer is value that a contract sends.'}
            </EmptyState>
          )}
        </section>
      </div>
    </>
  );
}

function Examples({ latest, network }: { readonly latest: Latest; readonly network: string }) {
  const { address, trace } = examplesOf(latest);
  if (address === undefined || trace?.transactionHash == null) return null;
  const to = (kind: 'address' | 'transaction' | 'block', id: string) => linkTo({ kind, id }, network);
  return (
    <span>
      Examples: <Link to={to('address', address)}>a busy address</Link>,{' '}
      <Link to={to('transaction', trace.transactionHash)}>a transaction with many calls</Link>,{' '}
      <Link to={to('block', String(trace.blockNumber))}>its block</Link>
    </span>
  );
}

interface RowsProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
}

/** A table whose rows change in place. The key of a row is its position, so that new data moves no row. */
function Rows<T>({ caption, columns, items }: RowsProps<T>) {
  const placed = columns.map(({ sortKey: _, ...column }) => ({
    ...column,
    cell: ([, item]: [number, T]) => column.cell(item),
  }));
  return (
    <Table
      caption={caption}
      columns={placed}
      rows={[...items.entries()]}
      keyOf={([place]) => String(place)}
    />
  );
}

const blockColumns = (network: string): readonly Column<BlockHeader>[] => [
  { title: 'Block', cell: ({ number }) => <BlockLink block={Number(number)} network={network} /> },
  { title: 'Time', cell: (header) => <Time at={timeOfHeader(header)} form="clock" /> },
  { title: 'Transactions', isNumber: true, cell: ({ transactions }) => formatQuantity(transactions.length) },
  {
    title: 'Gas used',
    isNumber: true,
    cell: ({ gasUsed, gasLimit }) => `${((Number(gasUsed) / Number(gasLimit)) * 100).toFixed(1)}\u00a0%`,
  },
  { title: 'By', cell: ({ miner }) => <AddressLink address={miner} network={network} /> },
];

function transferColumns(network: string, transfers: readonly Frame[]): readonly Column<Frame>[] {
  const weis = transfers.map(({ trace }) => valueMoved(trace));
  const decimals = decimalsIn(weis, 'ETH');
  return [
    { title: 'Transaction', cell: ({ trace }) => <FrameLink trace={trace} network={network} /> },
    { title: 'From', cell: ({ trace }) => <AddressLink address={partiesOf(trace).from} network={network} /> },
    { title: 'To', cell: ({ trace }) => <AddressLink address={partiesOf(trace).to} network={network} /> },
    {
      title: 'Value, ETH',
      isNumber: true,
      cell: ({ trace }) => <Amount wei={valueMoved(trace)} unit="ETH" decimals={decimals} />,
    },
  ];
}
