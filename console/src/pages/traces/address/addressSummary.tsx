import type { Outcome } from '../../../api/failure.ts';
import { rpc } from '../../../api/rpc.ts';
import { useLoaded } from '../../../ui/useLoaded.ts';
import { pluralOf } from '../../../ui/value/quantity.tsx';
import { formatQuantity, formatWei } from '../frames/ether.ts';
import { AddressLink, BlockLink } from '../parts.tsx';
import { useNetwork } from '../traceUrl.ts';
import type { AddressSummary, AddressTracesPage, CreateTrace } from '../types.ts';

interface SummaryData {
  readonly summary: AddressSummary;
  /** The trace that created the contract; undefined if the address is no contract, or the index lacks the trace. */
  readonly creation: CreateTrace | undefined;
}

interface AddressSummaryLineProps {
  readonly address: string;
  /** Number of the newest block in the history below; undefined until the history was read. */
  readonly newest: number | undefined;
}

/**
 * Shows a summary of an address and its traces, and reads it again when the history has a newer block. Until the
 * summary is read, an empty line reserves the space.
 */
export function AddressSummaryLine({ address, newest }: AddressSummaryLineProps) {
  const network = useNetwork();
  const { value, failure } = useLoaded(() => read(address, network), [address, network, newest], {
    isHeld: newest === undefined,
  });
  return (
    <p class="summary">
      {value && <SummaryText known={value} />}
      {failure && <span class="quiet">No summary: {failure.what}</span>}
    </p>
  );
}

async function read(address: string, network: string): Promise<Outcome<SummaryData>> {
  const params = [{ address }];
  const answer = await rpc<AddressSummary>({ network, method: 'floodgate_addressSummary', params });
  if ('failure' in answer) return answer;
  const summary = answer.value;
  if (summary.counts.to.create === 0) return { value: { summary, creation: undefined } };
  const made = await rpc<AddressTracesPage>({
    network,
    method: 'floodgate_addressTraces',
    params: [{ address, direction: 'to', types: ['create'], order: 'asc', failed: false, limit: 1 }],
  });
  const first = 'value' in made ? made.value.traces[0] : undefined;
  return { value: { summary, creation: first?.type === 'create' ? first : undefined } };
}

const sum = (counts: AddressSummary['counts']['from']): number =>
  Object.values(counts).reduce((all, one) => all + one, 0);

function SummaryText({ known: { summary, creation } }: { readonly known: SummaryData }) {
  const { firstBlock, lastBlock, counts, value } = summary;
  if (firstBlock === null || lastBlock === null) return <span>The index has no traces of this address.</span>;
  const atLeast = counts.partial ? 'at least ' : '';
  const blocks =
    firstBlock === lastBlock
      ? `block ${formatQuantity(firstBlock)}`
      : `blocks ${formatQuantity(firstBlock)} to ${formatQuantity(lastBlock)}`;
  return (
    <>
      {creation && (
        <span>
          Contract, created in block <BlockLink block={creation.blockNumber} /> by{' '}
          <AddressLink address={creation.action.from} />.{' '}
        </span>
      )}
      <span>
        {atLeast}
        <strong>{formatQuantity(sum(counts.from))}</strong> {pluralOf(sum(counts.from), 'trace')} from it,{' '}
        {atLeast}
        <strong>{formatQuantity(sum(counts.to))}</strong> to it, in {blocks}.{' '}
      </span>
      <span title="Moved by traces; fees, withdrawals and genesis allocations are not part of traces">
        {value.partial ? 'At least ' : ''}
        {formatWei(BigInt(value.in))} in, {formatWei(BigInt(value.out))} out.
      </span>
    </>
  );
}
