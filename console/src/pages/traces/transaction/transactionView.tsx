import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type RpcCall, type RpcFailure, rpc } from '../../../api/rpc.ts';
import { goTo } from '../../../navigate.ts';
import { EmptyState } from '../../../ui/emptyState.tsx';
import { ErrorBox } from '../../../ui/errorBox.tsx';
import { Link } from '../../../ui/link.tsx';
import { Address } from '../../../ui/value/address.tsx';
import { loadBlockTimes } from '../blockTimes.ts';
import { withMember } from '../filter.ts';
import { treeOf } from '../frames/callTree.ts';
import { CallTreeView } from '../frames/callTreeView.tsx';
import { failureOfTrace, labelOf, partiesOf, valueIn } from '../frames/describe.ts';
import { formatQuantity } from '../frames/ether.ts';
import { FlameGraph } from '../frames/flameGraph.tsx';
import { decoder } from '../names/names.ts';
import { NameText } from '../names/nameText.tsx';
import { AddressLink, BlockLink, BlockTime, CopyCall, Ether, Failed } from '../parts.tsx';
import { linkTo, pathOfSubject, useQuery } from '../traceUrl.ts';
import type { BlockHeader, Trace } from '../types.ts';
import { Facts } from './facts.tsx';
import { Logs } from './logs.tsx';
import { type NodeData, useNodeData } from './nodeData.ts';
import { TokenTransfers } from './tokenTransfers.tsx';
import { transfersOf } from './transfers.ts';
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
  const data = useNodeData(hash, network, attempt);
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
  const root = traces.value?.[0];
  const isPending = data.transaction?.blockHash === null;
  const isUnknown = traces.value?.length === 0 && data.isSettled && data.transaction === undefined;
  return (
    <>
      <section class="subject-head">
        <div class="head">
          <h2>
            Transaction <Address value={hash} />
          </h2>
          <Neighbours hash={hash} data={data} network={network} />
        </div>
        <p class="summary">
          {root && <Sentence root={root} network={network} />}
          {isPending && 'Pending: no block contains this transaction yet.'}
          <Missing data={data} readAgain={() => readAgain.value++} />
        </p>
        {!isUnknown && <Facts data={data} root={root} network={network} />}
      </section>
      <section class="trace-history" aria-busy={traces.value === undefined}>
        {failure.value && <ErrorBox failure={failure.value} retry={() => readAgain.value++} />}
        {isUnknown && data.missing.length === 0 && (
          <EmptyState title="No such transaction">No block in the index or at a node contains it.</EmptyState>
        )}
        {!isUnknown && (
          <Parts
            key={`${root?.blockHash} ${attempt}`}
            {...{ hash, traces: traces.value ?? [], data, network, call }}
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

interface NeighboursProps {
  readonly hash: string;
  readonly data: NodeData;
  readonly network: string;
}

/** Links to the previous and the next transaction of the block. */
function Neighbours({ hash, data: { block }, network }: NeighboursProps) {
  const at = block?.transactions.indexOf(hash) ?? -1;
  const link = (id: string | undefined, text: string) =>
    at >= 0 &&
    (id === undefined ? (
      <span class="quiet">{text}</span>
    ) : (
      <Link to={linkTo({ kind: 'transaction', id }, network)}>{text}</Link>
    ));
  return (
    <nav class="neighbours" aria-label="Neighbouring transactions">
      {link(block?.transactions[at - 1], '← Previous')}
      {link(block?.transactions[at + 1], 'Next →')}
    </nav>
  );
}

function Sentence({ root, network }: { readonly root: Trace; readonly network: string }) {
  useEffect(() => {
    const abort = new AbortController();
    void loadBlockTimes(network, [root.blockNumber], abort.signal);
    return () => abort.abort();
  }, [network, root]);
  const { from, to } = partiesOf(root);
  const reason = failureOfTrace(root);
  const value = valueIn(root);
  return (
    <>
      {reason === undefined ? <span class="well">✓ Succeeded</span> : <Failed reason={reason} />} in block{' '}
      <BlockLink block={root.blockNumber} network={network} />:{' '}
      <AddressLink address={from} network={network} /> →{' '}
      {to === undefined ? 'no contract' : <AddressLink address={to} network={network} />},{' '}
      <NameText name={labelOf(root, decoder.value)} />
      {value > 0n && (
        <>
          {reason === undefined ? ', ' : ', not moved: '}
          <Ether wei={value} />
        </>
      )}
      . <BlockTime block={root.blockNumber} network={network} />
    </>
  );
}

function Missing({
  data: { missing },
  readAgain,
}: {
  readonly data: NodeData;
  readonly readAgain: () => void;
}) {
  if (missing.length === 0) return null;
  return (
    <span class="look" role="status">
      ▲ Incomplete, without the {missing.map(({ part }) => part).join(' and the ')}:{' '}
      {missing[0]?.failure.what}{' '}
      <button type="button" class="plain-button" onClick={readAgain}>
        Try again
      </button>
    </span>
  );
}

interface PartsProps {
  readonly hash: string;
  readonly traces: readonly Trace[];
  readonly data: NodeData;
  readonly network: string;
  readonly call: RpcCall;
  readonly readAgain: () => void;
}

/** The calls, the token transfers or the logs. The URL contains which of them. */
function Parts({ hash, traces, data: { receipt, isSettled }, network, call, readAgain }: PartsProps) {
  const query = useQuery();
  const view = query.get('view') ?? '';
  const names = decoder.value;
  const transfers = useMemo(
    () => (receipt === undefined || names === undefined ? undefined : transfersOf(receipt.logs, names)),
    [receipt, names],
  );
  const path = pathOfSubject({ kind: 'transaction', id: hash });
  const part = (name: string, title: string, count: number | undefined) => (
    <Link to={path + withMember(query, 'view', name)} current={view === name}>
      {title} <span class="count quiet">{count === undefined ? '' : formatQuantity(count)}</span>
    </Link>
  );
  const nothing = isSettled && (
    <EmptyState title="Not known">No node returned the receipt, which contains the logs.</EmptyState>
  );
  return (
    <>
      <div class="head above-list">
        <nav class="parts" aria-label="Parts of the transaction">
          {part('', 'Calls', traces.length || undefined)}
          {part('transfers', 'Token transfers', transfers?.length)}
          {part('logs', 'Logs', receipt?.logs.length)}
        </nav>
        <CopyCall call={call} />
      </div>
      {view === 'transfers' &&
        (transfers === undefined ? nothing : <TokenTransfers transfers={transfers} network={network} />)}
      {view === 'logs' && (receipt === undefined ? nothing : <Logs logs={receipt.logs} network={network} />)}
      {view === '' && traces.length > 0 && <Tree traces={traces} network={network} readAgain={readAgain} />}
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
      <FlameGraph root={root} wanted={wanted} chosen={choose} />
      <CallTreeView root={root} network={network} wanted={wanted} chosen={choose} />
    </>
  );
}
