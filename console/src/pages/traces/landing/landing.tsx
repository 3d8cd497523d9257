import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { EmptyState } from '../../../ui/emptyState.tsx';
import { ErrorBox } from '../../../ui/errorBox.tsx';
import { Link } from '../../../ui/link.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { useLoaded } from '../../../ui/useLoaded.ts';
import { Time } from '../../../ui/value/time.tsx';
import { valueColumn } from '../amount.tsx';
import { timeOfHeader } from '../blockTimes.ts';
import type { Frame } from '../frames/callTree.ts';
import { partiesOf, valueMoved } from '../frames/describe.ts';
import { formatQuantity } from '../frames/ether.ts';
import { AddressLink, BlockLink, FrameLink } from '../parts.tsx';
import { linkTo, useNetwork } from '../traceUrl.ts';
import type { BlockHeader } from '../types.ts';
import { useHeads } from '../useHeads.ts';
import { examplesOf, type Latest, readLatest } from './latest.ts';

/** Shows the latest blocks and internal transfers. Nothing is read while the user points at them. */
export function Landing() {
  const network = useNetwork();
  const isHeld = useSignal(false);
  const isReading = useRef(false);
  // On a fast chain, heads that arrive during a read are skipped. A later read includes their blocks.
  const { heads, isLive } = useHeads(() => isReading.current);
  const reads = useLoaded(
    async () => {
      isReading.current = true;
      const answer = await readLatest(network, reads.value);
      isReading.current = false;
      return answer;
    },
    [network, heads],
    { isHeld: isHeld.value },
  );
  const { value: latest, failure, again } = reads;
  const hold = (isWanted: boolean) => () => {
    isHeld.value = isWanted;
  };
  return (
    <>
      <section class="subject-head">
        <h2>Search an address, a transaction or a block</h2>
        <p class="summary">
          An address has its history, including internal transfers; a transaction has its call tree.{' '}
          {latest && <Examples latest={latest} />}
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
              {isHeld.value ? 'paused while you point here' : isLive ? 'live' : ''}
            </span>
          </h2>
          {latest && <Table caption="Latest blocks" columns={blockColumns} rows={latest.headers} />}
        </section>
        <section>
          <h2>Internal transfers of these blocks</h2>
          {latest && latest.transfers.length > 0 && (
            <Table
              caption="Internal transfers"
              columns={transferColumns(latest.transfers)}
              rows={latest.transfers}
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

function Examples({ latest }: { readonly latest: Latest }) {
  const network = useNetwork();
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

const blockColumns: readonly Column<BlockHeader>[] = [
  { title: 'Block', cell: ({ number }) => <BlockLink block={Number(number)} /> },
  { title: 'Time', cell: (header) => <Time at={timeOfHeader(header)} form="clock" /> },
  { title: 'Transactions', isNumber: true, cell: ({ transactions }) => formatQuantity(transactions.length) },
  {
    title: 'Gas used',
    isNumber: true,
    cell: ({ gasUsed, gasLimit }) => `${((Number(gasUsed) / Number(gasLimit)) * 100).toFixed(1)}\u00a0%`,
  },
  { title: 'By', cell: ({ miner }) => <AddressLink address={miner} /> },
];

const transferColumns = (transfers: readonly Frame[]): readonly Column<Frame>[] => [
  { title: 'Transaction', cell: ({ trace }) => <FrameLink trace={trace} /> },
  { title: 'From', cell: ({ trace }) => <AddressLink address={partiesOf(trace).from} /> },
  { title: 'To', cell: ({ trace }) => <AddressLink address={partiesOf(trace).to} /> },
  valueColumn(transfers, 'ETH', ({ trace }) => valueMoved(trace)),
];
