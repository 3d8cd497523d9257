import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { rpc } from '../../api/rpc.ts';
import { wordFor } from '../../ui/quantity.tsx';
import { countText, etherText } from './ether.ts';
import { AddressLink, BlockLink } from './parts.tsx';
import type { AddressSummary, AddressTracesPage, CreateTrace } from './types.ts';

interface Known {
  readonly summary: AddressSummary;
  /** How it came to be, where it is a contract that the index saw made. */
  readonly creation: CreateTrace | undefined;
}

/** One sentence: what it is, and what its history comes to. Its place is kept until it is there. */
export function AddressSummaryLine({
  address,
  network,
}: {
  readonly address: string;
  readonly network: string;
}) {
  const known = useSignal<Known | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    void read(address, network, abort.signal).then((answer) => {
      if (abort.signal.aborted) return;
      if (typeof answer === 'string') problem.value = answer;
      else known.value = answer;
    });
    return () => abort.abort();
  }, [address, network, known, problem]);
  return (
    <p class="summary">
      {known.value && <Words known={known.value} network={network} />}
      {problem.value && <span class="quiet">No summary now: {problem.value}</span>}
    </p>
  );
}

async function read(address: string, network: string, signal: AbortSignal): Promise<Known | string> {
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

function Words({
  known: { summary, creation },
  network,
}: {
  readonly known: Known;
  readonly network: string;
}) {
  const { firstBlock, lastBlock, counts, value } = summary;
  if (firstBlock === null || lastBlock === null) return <span>No trace of it in what is indexed.</span>;
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
        <strong>{countText(sum(counts.from))}</strong> {wordFor(sum(counts.from), 'trace', 'traces')} from it,{' '}
        {atLeast}
        <strong>{countText(sum(counts.to))}</strong> to it, in{' '}
        {firstBlock === lastBlock
          ? `block ${countText(firstBlock)}`
          : `blocks ${countText(firstBlock)} to ${countText(lastBlock)}`}
        .{' '}
      </span>
      <span title="What traces moved; fees, withdrawals and what a genesis block gave are in no trace">
        {value.partial ? 'At least ' : ''}
        {etherText(BigInt(value.in))} ETH in, {etherText(BigInt(value.out))} ETH out.
      </span>
    </>
  );
}
