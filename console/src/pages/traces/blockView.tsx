import { useMemo } from 'preact/hooks';
import { rpc } from '../../api/rpc.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Link } from '../../ui/link.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Address } from '../../ui/value/address.tsx';
import { counted } from '../../ui/value/quantity.tsx';
import { Time } from '../../ui/value/time.tsx';
import { UnitChoice } from './address/filterForm.tsx';
import { unitOf, valueColumn } from './amount.tsx';
import { timeOfHeader } from './blockTimes.ts';
import { CsvButton } from './csvButton.tsx';
import { failureOfTrace, gasUsedOf, keyOfTrace, labelOf, partiesOf, valueMoved } from './frames/describe.ts';
import { formatGwei, formatQuantity, type Unit } from './frames/ether.ts';
import { decoder } from './names/names.ts';
import { NameText } from './names/nameText.tsx';
import { AddressLink, CopyCall, Failed, formatShare, TransactionLink } from './parts.tsx';
import { pathOfBlock, useNetwork, useQuery } from './traceUrl.ts';
import type { BlockHeader, Trace } from './types.ts';

interface Entry {
  readonly root: Trace;
  /** Number of calls in the transaction below its root call. */
  readonly below: number;
  readonly failedBelow: number;
}

export function BlockView({ block }: { readonly block: string }) {
  const network = useNetwork();
  const unit = unitOf(useQuery());
  const isNumber = /^\d+$/.test(block);
  const tag = isNumber ? hexOf(Number(block)) : block;
  const headers = useLoaded(
    () => rpc<BlockHeader | null>({ network, method: 'eth_getBlockByNumber', params: [tag, false] }),
    [network, tag],
  );
  // Undefined until it is read, null if no node returned it.
  const header = headers.value ?? (headers.failure ? null : headers.value);
  const number = isNumber ? Number(block) : header ? Number(header.number) : undefined;
  // Traces of a tag are read after its header, by number: a block may be added between the two calls.
  const call = { method: 'trace_block', params: [number === undefined ? tag : hexOf(number)] };
  const isKnown = number !== undefined || header === null;
  const traces = useLoaded(isKnown && (() => rpc<readonly Trace[]>({ network, ...call })), [
    network,
    isKnown && call.params[0],
  ]);
  const { value, failure } = traces;
  const all = useMemo(() => value && entriesOf(value), [value]);
  const again = () => {
    headers.again();
    traces.again();
  };
  return (
    <>
      <section class="subject-head">
        <div class="head">
          <h2>Block {number === undefined ? block : formatQuantity(number)}</h2>
          {number !== undefined && <Neighbours number={number} />}
        </div>
        <p class="summary">
          {header && (
            <>
              {counted(header.transactions.length, 'transaction')}, produced by{' '}
              <AddressLink address={header.miner} />, <Time at={timeOfHeader(header)} />
            </>
          )}
          {header === null && failure === undefined && (
            <span class="look">▲ Incomplete: no node returned the header of this block.</span>
          )}
        </p>
        <Facts
          class="receipt"
          unknown={header === null && 'unknown'}
          rows={[
            ['Hash', header && <Address value={header.hash} />],
            ['Parent', header && <Address value={header.parentHash} />],
            ['Gas used', header && formatShare(header.gasUsed, header.gasLimit)],
            [
              'Base fee',
              header && (header.baseFeePerGas ? formatGwei(BigInt(header.baseFeePerGas)) : 'none'),
            ],
          ]}
        />
      </section>
      <section class="trace-history" aria-busy={all === undefined}>
        <div class="head above-list">
          <p class="quiet">Transactions in block order</p>
          <form class="row" aria-label="View" onSubmit={(event) => event.preventDefault()}>
            <UnitChoice />
            <span class="copies">
              <CsvButton name={`block-${number ?? block}`} traces={(all ?? []).map(({ root }) => root)} />
              <CopyCall {...call} />
            </span>
          </form>
        </div>
        {failure && <ErrorBox failure={failure} retry={again} />}
        {all?.length === 0 && <EmptyState title="This block has no traces" />}
        {all !== undefined && all.length > 0 && (
          <Table
            caption="Transactions"
            columns={columnsOf(all, unit)}
            rows={all}
            keyOf={({ root }) => keyOfTrace(root)}
          />
        )}
      </section>
    </>
  );
}

const hexOf = (number: number): string => `0x${number.toString(16)}`;

function Neighbours({ number }: { readonly number: number }) {
  const network = useNetwork();
  const to = (id: number) => pathOfBlock(id, network);
  return (
    <nav class="neighbours" aria-label="Neighbouring blocks">
      {number > 0 && <Link to={to(number - 1)}>← {formatQuantity(number - 1)}</Link>}
      <Link to={to(number + 1)}>{formatQuantity(number + 1)} →</Link>
    </nav>
  );
}

function entriesOf(traces: readonly Trace[]): Entry[] {
  const entries: { root: Trace; below: number; failedBelow: number }[] = [];
  for (const trace of traces) {
    const last = entries.at(-1);
    if (trace.traceAddress.length === 0 || last === undefined)
      entries.push({ root: trace, below: 0, failedBelow: 0 });
    else {
      last.below++;
      if (failureOfTrace(trace) !== undefined) last.failedBelow++;
    }
  }
  return entries;
}

const columnsOf = (entries: readonly Entry[], unit: Unit): readonly Column<Entry>[] => [
  {
    title: 'Transaction',
    cell: ({ root: { transactionHash } }) => <TransactionLink hash={transactionHash} />,
  },
  {
    title: 'From → to',
    cell({ root }) {
      const { from, to } = partiesOf(root);
      return (
        <span class="ends">
          <AddressLink address={from} /> → <AddressLink address={to} />
        </span>
      );
    },
  },
  {
    title: 'Method',
    cell: ({ root }) => (
      <>
        <NameText name={labelOf(root, decoder.value)} /> <Failed reason={failureOfTrace(root)} />
      </>
    ),
  },
  valueColumn(entries, unit, ({ root }) => valueMoved(root)),
  { title: 'Calls below', isNumber: true, cell: ({ below }) => formatQuantity(below) },
  {
    title: 'Failed',
    isNumber: true,
    cell: ({ failedBelow }) => failedBelow > 0 && <span class="harm">✕ {formatQuantity(failedBelow)}</span>,
  },
  {
    // Traces do not contain the gas that a transaction pays for itself and its data, nor its refund.
    title: 'Gas of its calls',
    isNumber: true,
    cell({ root }) {
      const gas = gasUsedOf(root);
      return gas === undefined ? <span class="quiet">—</span> : formatQuantity(gas);
    },
  },
];
