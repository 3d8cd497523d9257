import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { EmptyState } from '../../../ui/emptyState.tsx';
import { ErrorBox } from '../../../ui/errorBox.tsx';
import { Address } from '../../../ui/value/address.tsx';
import { counted } from '../../../ui/value/quantity.tsx';
import { UntrustedText } from '../../../ui/value/untrustedText.tsx';
import { blockTimes } from '../blockTimes.ts';
import { CsvButton } from '../csvButton.tsx';
import { filterOf, withMember } from '../filter.ts';
import { formatQuantity } from '../frames/ether.ts';
import { decoder } from '../names/names.ts';
import { CopyCall } from '../parts.tsx';
import { useNetwork, useQuery } from '../traceUrl.ts';
import type { Trace } from '../types.ts';
import { useHeads } from '../useHeads.ts';
import { AccountState } from './account.tsx';
import { AddressSummaryLine } from './addressSummary.tsx';
import { FilterForm } from './filterForm.tsx';
import { AddressHistory, type Range } from './history.ts';
import { TraceTable } from './traceTable.tsx';

function Label({ address }: { readonly address: string }) {
  const label = decoder.value?.labelOf(address);
  return label === undefined ? null : (
    <span class="label">
      <UntrustedText text={label} />{' '}
    </span>
  );
}

export function AddressView({ address }: { readonly address: string }) {
  const newest = useSignal<number | undefined>(undefined);
  const { heads, breaks } = useHeads();
  // A change of the unit reads nothing again.
  const text = withMember(useQuery(), 'unit', undefined);
  return (
    <>
      <section class="subject-head">
        <h2>
          <Label address={address} />
          <Address value={decoder.value?.checksummed(address) ?? address} />
        </h2>
        <AddressSummaryLine address={address} newest={newest.value} />
        <AccountState address={address} heads={heads} />
      </section>
      <FilterForm />
      <History key={text} address={address} newest={newest} breaks={breaks} />
    </>
  );
}

interface HistoryProps {
  readonly address: string;
  /** Receives the number of the newest block that is shown. */
  readonly newest: Signal<number | undefined>;
  /** Changes when blocks may have been replaced, or new ones missed. */
  readonly breaks: number;
}

function History({ address, newest, breaks }: HistoryProps) {
  const network = useNetwork();
  const filter = filterOf(useQuery());
  const history = useMemo(() => new AddressHistory(network, { address, ...filter }), []);
  useEffect(() => {
    void history.begin();
    return () => history.end();
  }, [history]);
  useEffect(() => void history.check(), [history, breaks]);
  const traces = history.traces.value;
  blockTimes.useValues(traces.map(({ blockNumber }) => blockNumber));
  const isBusy = history.isBusy.value;
  const last = newestOf(traces);
  useEffect(() => {
    if (!isBusy) newest.value = last;
  }, [isBusy, last, newest]);
  const waiting = history.waiting.value.length;
  const isBehind = history.isBehind.value;
  const isAll = history.cursor.value === null;
  return (
    <section class="trace-history" aria-busy={isBusy}>
      <div class="head above-list">
        <p role="status">
          {waiting > 0 || isBehind ? (
            <button type="button" onClick={() => void history.showWaiting()}>
              ↑ Show {isBehind ? 'the newest traces' : counted(waiting, 'new trace')}
            </button>
          ) : (
            <span class="quiet">
              {filter.order === 'asc'
                ? 'Oldest first'
                : history.isLive.value
                  ? 'Newest first, live'
                  : 'Newest first'}
            </span>
          )}
        </p>
        <span class="copies">
          <CsvButton name={address} traces={traces} />
          <CopyCall {...history.call} />
        </span>
      </div>
      <Missing ranges={history.missing.value} network={network} />
      {traces.length > 0 && <TraceTable traces={traces} here={address} replaced={history.replaced.value} />}
      {history.failure.value && (
        <ErrorBox failure={history.failure.value} retry={() => void history.more()} />
      )}
      <End history={history} isAll={isAll} />
    </section>
  );
}

const newestOf = (traces: readonly Trace[]): number =>
  traces.reduce((newest, { blockNumber }) => Math.max(newest, blockNumber), 0);

function End({ history, isAll }: { readonly history: AddressHistory; readonly isAll: boolean }) {
  const count = history.traces.value.length;
  if (history.isBusy.value) return <p class="quiet end">Loading …</p>;
  if (history.failure.value) return null;
  if (!isAll)
    return (
      <p class="end">
        {count === 0 && <span class="quiet">Nothing found yet; not all blocks were searched. </span>}
        <button type="button" onClick={() => void history.more()}>
          {count === 0 ? 'Search further' : 'Show more'}
        </button>
      </p>
    );
  const range = history.range.value;
  const isWhole = history.missing.value.length === 0;
  // New traces may be of later blocks than those that were searched.
  const toBlock = Math.max(range?.toBlock ?? 0, newestOf(history.traces.value));
  const blocks = range && `blocks ${formatQuantity(range.fromBlock)} to ${formatQuantity(toBlock)}`;
  if (count === 0)
    return (
      <EmptyState title={isWhole ? 'No matching traces' : 'No matching traces in the index'}>
        {blocks &&
          `No traces of this address match the filter in ${isWhole ? blocks : `the indexed part of ${blocks}`}.`}
      </EmptyState>
    );
  return blocks ? (
    <p class="quiet end">All traces in {isWhole ? blocks : `the indexed part of ${blocks}`} are shown.</p>
  ) : null;
}

const MAX_RANGES = 3;

function Missing({ ranges, network }: { readonly ranges: readonly Range[]; readonly network: string }) {
  const [first, last] = [ranges[0]?.[0], ranges.at(-1)?.[1]];
  if (first === undefined || last === undefined) return null;
  const isMain = network === 'mainnet';
  const words = ranges
    .slice(0, MAX_RANGES)
    .map(([from, to]) =>
      from === to ? formatQuantity(from) : `${formatQuantity(from)} to ${formatQuantity(to)}`,
    );
  const more = ranges.length > MAX_RANGES ? ` and ${ranges.length - MAX_RANGES} more ranges` : '';
  return (
    <p class="look">
      ▲ Incomplete: {first === last ? 'block' : 'blocks'} {words.join(', ')}
      {more} {first === last ? 'is' : 'are'} not in the index, so traces are missing here. If the server is
      not indexing now, stop it and run{' '}
      <code>
        floodgate index {isMain ? '' : `--network ${network} `}--from {first} --to {last}
      </code>
      , or set <code>{isMain ? 'index.from' : `networks.${network}.indexFrom`}</code> to {first} and restart
      the server.
    </p>
  );
}
