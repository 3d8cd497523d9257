import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type RpcCall, type RpcFailure, rpc } from '../../api/rpc.ts';
import { goTo } from '../../navigate.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Address } from '../../ui/value/address.tsx';
import { pluralOf } from '../../ui/value/quantity.tsx';
import { Time } from '../../ui/value/time.tsx';
import { UnitChoice } from './address/filterForm.tsx';
import { Amount, decimalsIn, unitOf } from './amount.tsx';
import { timeOfHeader } from './blockTimes.ts';
import { CsvButton } from './csvButton.tsx';
import { failureOfTrace, gasUsedOf, labelOf, partiesOf, valueMoved } from './frames/describe.ts';
import { formatGwei, formatQuantity, type Unit } from './frames/ether.ts';
import { decoder } from './names/names.ts';
import { NameText } from './names/nameText.tsx';
import { AddressLink, CopyCall, Fact, Failed, formatShare, ShowMore } from './parts.tsx';
import { linkTo, pathOfSubject, useQuery } from './traceUrl.ts';
import type { BlockHeader, Trace } from './types.ts';

interface BlockViewProps {
  readonly block: string;
  readonly network: string;
}

interface Entry {
  readonly root: Trace;
  /** Number of calls in the transaction below its root call. */
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
  const query = useQuery();
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
          <h2>Block {number === undefined ? block : formatQuantity(number)}</h2>
          {number !== undefined && <Neighbours number={number} network={network} />}
        </div>
        <p class="summary">
          {header.value && (
            <>
              {formatQuantity(header.value.transactions.length)}{' '}
              {pluralOf(header.value.transactions.length, 'transaction', 'transactions')}, produced by{' '}
              <AddressLink address={header.value.miner} network={network} />,{' '}
              <Time at={timeOfHeader(header.value)} />
            </>
          )}
          {header.value === null && (
            <span class="look">▲ Incomplete: no node returned the header of this block.</span>
          )}
        </p>
        <Facts header={header.value} />
      </section>
      <section class="trace-history" aria-busy={all === undefined}>
        <div class="head above-list">
          <p class="quiet">Transactions in block order</p>
          <form class="row" aria-label="View" onSubmit={(event) => event.preventDefault()}>
            <UnitChoice
              query={query}
              change={(changed) =>
                goTo(pathOfSubject({ kind: 'block', id: block }) + changed, { replace: true })
              }
            />
            <span class="copies">
              <CsvButton
                name={`block-${number ?? block}`}
                traces={(all ?? []).map(({ root }) => root)}
                network={network}
              />
              <CopyCall call={call} />
            </span>
          </form>
        </div>
        {failure.value && <ErrorBox failure={failure.value} retry={() => attempts.value++} />}
        {all?.length === 0 && <EmptyState title="This block has no traces" />}
        {all !== undefined && all.length > 0 && (
          <Table
            caption="Transactions"
            columns={columnsOf(network, all, unitOf(query))}
            rows={all.slice(0, shown.value)}
            keyOf={({ root }) => root.transactionHash ?? `${root.type} ${partiesOf(root).to}`}
          />
        )}
        <ShowMore
          left={(all?.length ?? 0) - shown.value}
          more={() => {
            shown.value += SHOWN;
          }}
        />
      </section>
    </>
  );
}

function Neighbours({ number, network }: { readonly number: number; readonly network: string }) {
  const to = (id: number) => linkTo({ kind: 'block', id: String(id) }, network);
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

interface FactsProps {
  readonly header: BlockHeader | null | undefined;
}

function Facts({ header }: FactsProps) {
  const unknown = header === null && 'unknown';
  return (
    <dl class="facts receipt">
      <Fact name="Hash" unknown={unknown}>
        {header && <Address value={header.hash} />}
      </Fact>
      <Fact name="Parent" unknown={unknown}>
        {header && <Address value={header.parentHash} />}
      </Fact>
      <Fact name="Gas used" unknown={unknown}>
        {header && formatShare(header.gasUsed, header.gasLimit)}
      </Fact>
      <Fact name="Base fee" unknown={unknown}>
        {header && (header.baseFeePerGas ? formatGwei(BigInt(header.baseFeePerGas)) : 'none')}
      </Fact>
    </dl>
  );
}

function columnsOf(network: string, entries: readonly Entry[], unit: Unit): readonly Column<Entry>[] {
  const decimals = decimalsIn(
    entries.map(({ root }) => valueMoved(root)),
    unit,
  );
  return [
    {
      title: 'Transaction',
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
      title: 'From → to',
      cell({ root }) {
        const { from, to } = partiesOf(root);
        return (
          <span class="ends">
            <AddressLink address={from} network={network} /> → <AddressLink address={to} network={network} />
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
    {
      title: `Value, ${unit}`,
      isNumber: true,
      cell: ({ root }) => <Amount wei={valueMoved(root)} unit={unit} decimals={decimals} />,
    },
    {
      ...{ title: 'Calls below', isNumber: true },
      cell: ({ below }) => formatQuantity(below),
    },
    {
      ...{ title: 'Failed', isNumber: true },
      cell: ({ failedBelow }) => failedBelow > 0 && <span class="harm">✕ {formatQuantity(failedBelow)}</span>,
    },
    {
      title: 'Gas used',
      isNumber: true,
      cell({ root }) {
        const gas = gasUsedOf(root);
        return gas === undefined ? <span class="quiet">—</span> : formatQuantity(gas);
      },
    },
  ];
}
