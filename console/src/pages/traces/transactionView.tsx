import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type RpcCall, type RpcFailure, rpc } from '../../api/rpc.ts';
import { goTo } from '../../navigate.ts';
import { Address } from '../../ui/address.tsx';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { loadBlockTimes } from './blockTimes.ts';
import { treeOf } from './frames/callTree.ts';
import { CallTreeView } from './frames/callTreeView.tsx';
import { failureOfTrace, gasUsedOf, partiesOf, valueIn } from './frames/describe.ts';
import { formatQuantity } from './frames/ether.ts';
import { AddressLink, BlockLink, BlockTime, CopyCall, Ether, Failed } from './parts.tsx';
import { linkTo, pathOfSubject, useQuery } from './traceUrl.ts';
import type { BlockHeader, Trace } from './types.ts';
import { useReplaced } from './useReplaced.ts';

interface TransactionViewProps {
  readonly hash: string;
  readonly network: string;
}

export function TransactionView({ hash, network }: TransactionViewProps) {
  const traces = useSignal<readonly Trace[] | undefined>(undefined);
  const failure = useSignal<RpcFailure | undefined>(undefined);
  const readAgain = useSignal(0);
  const call: RpcCall = { network, method: 'trace_transaction', params: [hash] };
  const attempt = readAgain.value;
  useEffect(() => {
    const abort = new AbortController();
    void rpc<readonly Trace[] | null>({ ...call, signal: abort.signal }).then(async (answer) => {
      if (abort.signal.aborted) return;
      failure.value = 'failure' in answer ? answer.failure : undefined;
      if ('failure' in answer) return;
      if (!answer.value?.length && (await goToBlock(hash, network))) return;
      traces.value = answer.value ?? [];
    });
    return () => abort.abort();
  }, [hash, network, attempt]);
  return (
    <>
      <section class="subject-head">
        <h2>
          Transaction <Address value={hash} />
        </h2>
        <p class="summary">{traces.value?.[0] && <Sentence root={traces.value[0]} network={network} />}</p>
      </section>
      <section class="trace-history" aria-busy={traces.value === undefined}>
        <div class="head above-list">
          <p class="quiet">Calls, with the gas used by each</p>
          <CopyCall call={call} />
        </div>
        {failure.value && <ErrorBox failure={failure.value} retry={() => readAgain.value++} />}
        {traces.value?.length === 0 && (
          <EmptyState title="No such transaction">
            No block in the index or at a node contains it. A pending transaction has no traces yet.
          </EmptyState>
        )}
        {traces.value?.[0] && (
          <Tree
            key={`${traces.value[0].blockHash} ${attempt}`}
            traces={traces.value}
            network={network}
            readAgain={() => readAgain.value++}
          />
        )}
      </section>
    </>
  );
}

/** Opens the page of a block if `hash` is the hash of a block. Returns whether it is. */
async function goToBlock(hash: string, network: string): Promise<boolean> {
  const answer = await rpc<BlockHeader | null>({
    network,
    method: 'eth_getBlockByHash',
    params: [hash, false],
  });
  if (!('value' in answer) || answer.value === null) return false;
  goTo(linkTo({ kind: 'block', id: String(Number(answer.value.number)) }, network), { replace: true });
  return true;
}

function Sentence({ root, network }: { readonly root: Trace; readonly network: string }) {
  useEffect(() => {
    const abort = new AbortController();
    void loadBlockTimes(network, [root.blockNumber], abort.signal);
    return () => abort.abort();
  }, [network, root]);
  const { from, to } = partiesOf(root);
  const reason = failureOfTrace(root);
  const gas = gasUsedOf(root);
  return (
    <>
      {reason === undefined ? <span class="well">✓ Succeeded</span> : <Failed reason={reason} />} in block{' '}
      <BlockLink block={root.blockNumber} network={network} />:{' '}
      <AddressLink address={from} network={network} /> {reason === undefined ? 'sent' : 'tried to send'}{' '}
      <Ether wei={valueIn(root)} /> to <AddressLink address={to} network={network} />
      {gas !== undefined && `, its calls used ${formatQuantity(gas)} gas`}.{' '}
      <BlockTime block={root.blockNumber} network={network} />
    </>
  );
}

interface TreeProps {
  readonly traces: readonly Trace[];
  readonly network: string;
  readonly readAgain: () => void;
}

function Tree({ traces, network, readAgain }: TreeProps) {
  const query = useQuery();
  const wanted = query.get('frame') ?? undefined;
  const root = useMemo(() => treeOf(traces), [traces]);
  const replaced = useReplaced(network, traces[0]);
  if (root === undefined || traces[0] === undefined) return null;
  const hash = traces[0].transactionHash ?? '';
  const choose = (path: string | undefined) => {
    const changed = new URLSearchParams(query);
    if (path === undefined) changed.delete('frame');
    else changed.set('frame', path);
    const text = changed.size === 0 ? '' : `?${changed}`;
    goTo(pathOfSubject({ kind: 'transaction', id: hash }) + text, { replace: true });
  };
  return (
    <>
      <div role="status" class="replaced">
        {replaced && (
          <p class="look">
            ▲ The chain was reorganised: block {formatQuantity(traces[0].blockNumber)} was replaced. These
            calls may have other results in the new block.{' '}
            <button type="button" onClick={readAgain}>
              Reload the calls
            </button>
          </p>
        )}
      </div>
      <CallTreeView root={root} network={network} wanted={wanted} chosen={choose} />
    </>
  );
}
