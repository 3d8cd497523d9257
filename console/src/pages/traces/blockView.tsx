import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type RpcCall, type RpcFailure, rpc } from '../../api/rpc.ts';
import { Address } from '../../ui/address.tsx';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { wordFor } from '../../ui/quantity.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { timeOfHeader } from './blockTimes.ts';
import { calledOf, endsOf, failureOfTrace, gasUsedOf, movedBy } from './describe.ts';
import { countText } from './ether.ts';
import { AddressLink, CopyCall, Ether, Failed } from './parts.tsx';
import { linkTo } from './place.ts';
import type { BlockHeader, Trace } from './types.ts';

interface BlockViewProps {
  /** A number or a tag. */
  readonly block: string;
  readonly network: string;
}

/** A transaction, or a reward, of a block. */
interface Entry {
  readonly root: Trace;
  /** How many calls it has below its first. */
  readonly below: number;
  readonly failedBelow: number;
}

const SHOWN = 50;

export function BlockView({ block, network }: BlockViewProps) {
  const header = useSignal<BlockHeader | null | undefined>(undefined);
  const entries = useSignal<readonly Entry[] | undefined>(undefined);
  const failure = useSignal<RpcFailure | undefined>(undefined);
  const shown = useSignal(SHOWN);
  const attempts = useSignal(0);
  const attempt = attempts.value;
  const tag = /^\d+$/.test(block) ? `0x${Number(block).toString(16)}` : block;
  const number = header.value ? Number(header.value.number) : /^\d+$/.test(block) ? Number(block) : undefined;
  const call: RpcCall = { network, method: 'trace_block', params: [tag] };
  useEffect(() => {
    const abort = new AbortController();
    const ask = <T,>(method: string, params: readonly unknown[]) =>
      rpc<T>({ network, method, params, signal: abort.signal });
    void ask<BlockHeader | null>('eth_getBlockByNumber', [tag, false]).then((answer) => {
      if (!abort.signal.aborted) header.value = 'value' in answer ? answer.value : null;
    });
    void ask<readonly Trace[]>('trace_block', [tag]).then((answer) => {
      if (abort.signal.aborted) return;
      failure.value = 'failure' in answer ? answer.failure : undefined;
      if ('value' in answer) entries.value = entriesOf(answer.value);
    });
    return () => abort.abort();
  }, [network, tag, attempt]);
  const all = entries.value;
  return (
    <>
      <section class="subject-head">
        <div class="head">
          <h2>Block {number === undefined ? block : countText(number)}</h2>
          {number !== undefined && <Neighbours number={number} network={network} />}
        </div>
        <p class="summary">
          {header.value && (
            <>
              <Time at={timeOfHeader(header.value)} />, {countText(header.value.transactions.length)}{' '}
              {wordFor(header.value.transactions.length, 'transaction', 'transactions')},{' '}
              {countText(header.value.gasUsed)} of {countText(header.value.gasLimit)} gas, by{' '}
              <AddressLink address={header.value.miner} network={network} />, hash{' '}
              <Address value={header.value.hash} />
            </>
          )}
        </p>
      </section>
      <section class="trace-history" aria-busy={all === undefined}>
        <div class="head above-list">
          <p class="quiet">Transactions in their order</p>
          <CopyCall call={call} />
        </div>
        {failure.value && <ErrorBox failure={failure.value} retry={() => attempts.value++} />}
        {all?.length === 0 && <EmptyState title="Nothing happened in this block" />}
        {all !== undefined && all.length > 0 && (
          <Table
            caption="Transactions"
            columns={columnsOf(network)}
            rows={all.slice(0, shown.value)}
            keyOf={({ root }) => root.transactionHash ?? `${root.type} ${endsOf(root).to}`}
          />
        )}
        {all !== undefined && all.length > shown.value && (
          <p class="end">
            <button
              type="button"
              onClick={() => {
                shown.value += SHOWN;
              }}
            >
              Show more of the {countText(all.length - shown.value)} that follow
            </button>
          </p>
        )}
      </section>
    </>
  );
}

function Neighbours({ number, network }: { readonly number: number; readonly network: string }) {
  const to = (id: number) => linkTo({ kind: 'block', id: String(id) }, network);
  return (
    <nav class="neighbours" aria-label="Blocks beside it">
      {number > 0 && <Link to={to(number - 1)}>← {countText(number - 1)}</Link>}
      <Link to={to(number + 1)}>{countText(number + 1)} →</Link>
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

const columnsOf = (network: string): readonly Column<Entry>[] => [
  {
    title: 'transaction',
    cell: ({ root: { transactionHash } }) =>
      transactionHash === null ? (
        <span class="quiet">—</span>
      ) : (
        <Link to={linkTo({ kind: 'transaction', id: transactionHash }, network)} class="subject">
          <Address value={transactionHash} copies={false} />
        </Link>
      ),
  },
  {
    title: 'from → to',
    cell({ root }) {
      const { from, to } = endsOf(root);
      return (
        <span class="ends">
          <AddressLink address={from} network={network} /> → <AddressLink address={to} network={network} />
        </span>
      );
    },
  },
  { title: 'value', isNumber: true, cell: ({ root }) => <Ether wei={movedBy(root)} /> },
  {
    title: 'call',
    cell: ({ root }) => (
      <>
        {calledOf(root)} <Failed reason={failureOfTrace(root)} />
      </>
    ),
  },
  {
    title: 'calls below',
    isNumber: true,
    cell: ({ below, failedBelow }) => (
      <>
        {countText(below)}
        {failedBelow > 0 && <span class="harm"> ✕ {countText(failedBelow)}</span>}
      </>
    ),
  },
  {
    title: 'gas used',
    isNumber: true,
    cell({ root }) {
      const gas = gasUsedOf(root);
      return gas === undefined ? <span class="quiet">—</span> : countText(gas);
    },
  },
];
