import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { rpc } from '../../../api/rpc.ts';
import { pluralOf } from '../../../ui/value/quantity.tsx';
import { formatQuantity, formatWei } from '../frames/ether.ts';
import { AddressLink, BlockLink } from '../parts.tsx';
import type { AddressSummary, AddressTracesPage, CreateTrace } from '../types.ts';

interface SummaryData {
  readonly summary: AddressSummary;
  /** The trace that created the contract; undefined if the address is no contract, or the index lacks the trace. */
  readonly creation: CreateTrace | undefined;
}

interface AddressSummaryLineProps {
  readonly address: string;
  readonly network: string;
  /** Number of the newest block in the history below; undefined until the history was read. */
  readonly newest: number | undefined;
}

/**
 * Shows a summary of an address and its traces, and reads it again when the history has a newer block. Until the
 * summary is read, an empty line reserves the space.
 */
export function AddressSummaryLine({ address, network, newest }: AddressSummaryLineProps) {
  const known = useSignal<SummaryData | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (newest === undefined) return;
    const abort = new AbortController();
    void read(address, network, abort.signal).then((answer) => {
      if (abort.signal.aborted) return;
      if (typeof answer === 'string') problem.value = answer;
      else known.value = answer;
    });
    return () => abort.abort();
  }, [address, network, newest, known, problem]);
  return (
    <p class="summary">
      {known.value && <SummaryText known={known.value} network={network} />}
      {problem.value && <span class="quiet">No summary: {problem.value}</span>}
    </p>
  );
}

async function read(address: string, network: string, signal: AbortSignal): Promise<SummaryData | string> {
  const params = [{ address }];
  const answer = await rpc<AddressSummary>({ network, method: 'floodgate_addressSummary', params, signal });
  if ('failure' in answer) return answer.failure.what;
  const summary = answer.value;
  if (summary.counts.to.create === 0) return { summary, creation: undefined };
  const wanted = { address, direction: 'to', types: ['create'], order: 'asc', failed: false, limit: 1 };
  const made = await rpc<AddressTracesPage>({
    network,
    method: 'floodgate_addressTraces',
    params: [wanted],
    signal,
  });
  const first = 'value' in made ? made.value.traces[0] : undefined;
  return { summary, creation: first?.type === 'create' ? first : undefined };
}

const sum = (counts: AddressSummary['counts']['from']): number =>
  Object.values(counts).reduce((all, one) => all + one, 0);

function SummaryText({
  known: { summary, creation },
  network,
}: {
  readonly known: SummaryData;
  readonly network: string;
}) {
  const { firstBlock, lastBlock, counts, value } = summary;
  if (firstBlock === null || lastBlock === null) return <span>The index has no traces of this address.</span>;
  const atLeast = counts.partial ? 'at least ' : '';
  return (
    <>
      {creation && (
        <span>
          Contract, created in block <BlockLink block={creation.blockNumber} network={network} /> by{' '}
          <AddressLink address={creation.action.from} network={network} />.{' '}
        </span>
      )}
      <span>
        {atLeast}
        <strong>{formatQuantity(sum(counts.from))}</strong> {pluralOf(sum(counts.from), 'trace', 'traces')}{' '}
        from it, {atLeast}
        <strong>{formatQuantity(sum(counts.to))}</strong> to it, in{' '}
        {firstBlock === lastBlock
          ? `block ${formatQuantity(firstBlock)}`
          : `blocks ${formatQuantity(firstBlock)} to ${formatQuantity(lastBlock)}`}
        .{' '}
      </span>
      <span title="Moved by traces; fees, withdrawals and genesis allocations are not part of traces">
        {value.partial ? 'At least ' : ''}
        {formatWei(BigInt(value.in))} in, {formatWei(BigInt(value.out))} out.
      </span>
    </>
  );
}
