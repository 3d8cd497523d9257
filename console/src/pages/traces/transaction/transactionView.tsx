import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Outcome } from '../../../api/failure.ts';
import { type RpcCall, rpc } from '../../../api/rpc.ts';
import { goTo } from '../../../navigate.ts';
import { EmptyState } from '../../../ui/emptyState.tsx';
import { ErrorBox } from '../../../ui/errorBox.tsx';
import { Link } from '../../../ui/link.tsx';
import { useLoaded } from '../../../ui/useLoaded.ts';
import { Address } from '../../../ui/value/address.tsx';
import { blockTimes } from '../blockTimes.ts';
import { withMember } from '../filter.ts';
import { treeOf } from '../frames/callTree.ts';
import { CallTreeView } from '../frames/callTreeView.tsx';
import { failureOfTrace, labelOf, partiesOf, valueIn } from '../frames/describe.ts';
import { formatQuantity } from '../frames/ether.ts';
import { FlameGraph } from '../frames/flameGraph.tsx';
import { decoder } from '../names/names.ts';
import { NameText } from '../names/nameText.tsx';
import { AddressLink, BlockLink, BlockTime, CopyCall, Ether, Failed } from '../parts.tsx';
import { linkTo, pathOfBlock, pathOfSubject, useNetwork, useQuery } from '../traceUrl.ts';
import type { BlockHeader, Trace } from '../types.ts';
import { TransactionFacts } from './facts.tsx';
import { Logs } from './logs.tsx';
import { type NodeData, readNodeData, UNREAD } from './nodeData.ts';
import { TokenTransfers } from './tokenTransfers.tsx';
import { transfersOf } from './transfers.ts';
import { useReplaced } from './useReplaced.ts';

export function TransactionView({ hash }: { readonly hash: string }) {
  const network = useNetwork();
  const call = { method: 'trace_transaction', params: [hash] };
  const attempts = useSignal(0);
  const on = [hash, network, attempts.value];
  const nodes = useLoaded(async () => ({ value: await readNodeData(hash, network) }), on);
  const data = nodes.value ?? UNREAD;
  const { value: traces, failure } = useLoaded(async (): Promise<Outcome<readonly Trace[] | undefined>> => {
    const answer = await rpc<readonly Trace[] | null>({ network, ...call });
    if ('failure' in answer) return answer;
    const isBlock = !answer.value?.length && (await goToBlock(hash, network));
    return { value: isBlock ? undefined : (answer.value ?? []) };
  }, on);
  const root = traces?.[0];
  const isPending = data.transaction?.blockHash === null;
  const isUnknown = traces?.length === 0 && data.isSettled && data.transaction === undefined;
  const readAgain = () => attempts.value++;
  return (
    <>
      <section class="subject-head">
        <div class="head">
          <h2>
            Transaction <Address value={hash} />
          </h2>
          <Neighbours hash={hash} block={data.block} />
        </div>
        <p class="summary">
          {root && <Sentence root={root} />}
          {isPending && 'Pending: no block contains this transaction yet.'}
          <Missing data={data} readAgain={readAgain} />
        </p>
        {!isUnknown && <TransactionFacts data={data} root={root} />}
      </section>
      {/* The key replaces the section with the facts above it. Otherwise it would move up. */}
      <section key={isUnknown} class="trace-history" aria-busy={traces === undefined}>
        {failure && <ErrorBox failure={failure} retry={readAgain} />}
        {isUnknown && data.missing.length === 0 && (
          <EmptyState title="No such transaction">No block in the index or at a node contains it.</EmptyState>
        )}
        {!isUnknown && (
          <Parts
            key={`${root?.blockHash} ${attempts.value}`}
            hash={hash}
            traces={traces ?? []}
            data={data}
            call={call}
            readAgain={readAgain}
          />
        )}
      </section>
    </>
  );
}

/** Opens the page of a block if `hash` is the hash of a block. Returns whether it is. */
async function goToBlock(hash: string, network: string): Promise<boolean> {
  const params = [hash, false];
  const answer = await rpc<BlockHeader | null>({ network, method: 'eth_getBlockByHash', params });
  if (!('value' in answer) || answer.value === null) return false;
  goTo(pathOfBlock(Number(answer.value.number), network), { replace: true });
  return true;
}

interface NeighboursProps {
  readonly hash: string;
  readonly block: BlockHeader | undefined;
}

function Neighbours({ hash, block }: NeighboursProps) {
  const network = useNetwork();
  const hashes: readonly string[] = block?.transactions ?? [];
  const at = hashes.indexOf(hash);
  const link = (id: string | undefined, text: string) =>
    at >= 0 &&
    (id === undefined ? (
      <span class="quiet">{text}</span>
    ) : (
      <Link to={linkTo({ kind: 'transaction', id }, network)}>{text}</Link>
    ));
  return (
    <nav class="neighbours" aria-label="Neighbouring transactions">
      {link(hashes[at - 1], '← Previous')}
      {link(hashes[at + 1], 'Next →')}
    </nav>
  );
}

function Sentence({ root }: { readonly root: Trace }) {
  blockTimes.useValues([root.blockNumber]);
  const { from, to } = partiesOf(root);
  const reason = failureOfTrace(root);
  const value = valueIn(root);
  return (
    <>
      {reason === undefined ? <span class="well">✓ Succeeded</span> : <Failed reason={reason} />} in block{' '}
      <BlockLink block={root.blockNumber} />: <AddressLink address={from} /> →{' '}
      {to === undefined ? 'no contract' : <AddressLink address={to} />},{' '}
      <NameText name={labelOf(root, decoder.value)} />
      {value > 0n && (
        <>
          {reason === undefined ? ', ' : ', not moved: '}
          <Ether wei={value} />
        </>
      )}
      . <BlockTime block={root.blockNumber} />
    </>
  );
}

interface MissingProps {
  readonly data: NodeData;
  readonly readAgain: () => void;
}

function Missing({ data: { missing }, readAgain }: MissingProps) {
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
  readonly call: Pick<RpcCall, 'method' | 'params'>;
  readonly readAgain: () => void;
}

function Parts({ hash, traces, data: { receipt, isSettled }, call, readAgain }: PartsProps) {
  const query = useQuery();
  const view = ['transfers', 'logs'].find((name) => name === query.get('view')) ?? '';
  const names = decoder.value;
  const transfers = useMemo(
    () => (receipt === undefined || names === undefined ? undefined : transfersOf(receipt.logs, names)),
    [receipt, names],
  );
  const path = pathOfSubject({ kind: 'transaction', id: hash });
  const part = (name: string, title: string, count: number | undefined) => (
    <Link to={path + withMember(query, 'view', name || undefined)} current={view === name}>
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
        <CopyCall {...call} />
      </div>
      {view === 'transfers' && (transfers === undefined ? nothing : <TokenTransfers transfers={transfers} />)}
      {view === 'logs' && (receipt === undefined ? nothing : <Logs logs={receipt.logs} />)}
      {view === '' && traces[0] && <Tree traces={traces} first={traces[0]} readAgain={readAgain} />}
    </>
  );
}

interface TreeProps {
  readonly traces: readonly Trace[];
  readonly first: Trace;
  readonly readAgain: () => void;
}

function Tree({ traces, first, readAgain }: TreeProps) {
  const query = useQuery();
  const wanted = query.get('frame') ?? undefined;
  const root = useMemo(() => treeOf(traces), [traces]);
  const replaced = useReplaced(first);
  if (root === undefined) return null;
  const choose = (path: string | undefined) => {
    const page = pathOfSubject({ kind: 'transaction', id: first.transactionHash ?? '' });
    goTo(page + withMember(query, 'frame', path), { replace: true });
  };
  return (
    <>
      <div role="status" class="replaced">
        {replaced && (
          <p class="look">
            ▲ The chain was reorganised: block {formatQuantity(first.blockNumber)} was replaced. These calls
            may have other results in the new block.{' '}
            <button type="button" onClick={readAgain}>
              Reload the calls
            </button>
          </p>
        )}
      </div>
      <FlameGraph root={root} wanted={wanted} chosen={choose} />
      <CallTreeView root={root} wanted={wanted} chosen={choose} />
    </>
  );
}
