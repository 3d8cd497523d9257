import { Link } from '../../ui/link.tsx';
import { Plain } from '../../ui/plain.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { calledOf, endsOf, failureOfTrace, gasUsedOf, keyOfTrace, movedBy } from './describe.ts';
import { countText } from './ether.ts';
import { AddressLink, BlockLink, BlockTime, Ether, Failed } from './parts.tsx';
import { linkTo } from './place.ts';
import type { Trace } from './types.ts';

interface TraceTableProps {
  readonly traces: readonly Trace[];
  readonly network: string;
  readonly here: string;
  readonly replaced: ReadonlySet<string>;
}

export function TraceTable({ traces, network, here, replaced }: TraceTableProps) {
  const columns: readonly Column<Trace>[] = [
    { title: 'block', cell: ({ blockNumber }) => <BlockLink block={blockNumber} network={network} /> },
    { title: 'when', cell: ({ blockNumber }) => <BlockTime block={blockNumber} network={network} /> },
    {
      title: 'from → to',
      cell(trace) {
        const { from, to } = endsOf(trace);
        return (
          <span class="ends">
            <AddressLink address={from} network={network} here={here} /> →{' '}
            <AddressLink address={to} network={network} here={here} />
          </span>
        );
      },
    },
    { title: 'value', isNumber: true, cell: (trace) => <Ether wei={movedBy(trace)} /> },
    {
      title: 'call',
      cell: (trace) => (
        <>
          <Called trace={trace} network={network} />{' '}
          {replaced.has(keyOfTrace(trace)) ? (
            <span class="look">▲ its block was replaced</span>
          ) : (
            <Failed reason={failureOfTrace(trace)} />
          )}
        </>
      ),
    },
    {
      title: 'gas used',
      isNumber: true,
      cell(trace) {
        const gas = gasUsedOf(trace);
        return gas === undefined ? <span class="quiet">—</span> : countText(gas);
      },
    },
  ];
  return (
    <Table
      caption="Traces"
      columns={columns}
      rows={traces}
      keyOf={keyOfTrace}
      isMarked={(trace) => replaced.has(keyOfTrace(trace))}
    />
  );
}

/** What is called; leads to the frame in the tree of its transaction. */
function Called({ trace, network }: { readonly trace: Trace; readonly network: string }) {
  const called = <Plain text={calledOf(trace)} />;
  if (trace.transactionHash === null) return called;
  const tree = linkTo({ kind: 'transaction', id: trace.transactionHash }, network);
  const frame =
    trace.traceAddress.length === 0
      ? ''
      : `${tree.includes('?') ? '&' : '?'}frame=${trace.traceAddress.join('.')}`;
  return <Link to={tree + frame}>{called}</Link>;
}
