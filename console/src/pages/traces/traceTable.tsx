import { Link } from '../../ui/link.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';
import {
  callLabel,
  failureOfTrace,
  gasUsedOf,
  keyOfTrace,
  partiesOf,
  valueMoved,
} from './frames/describe.ts';
import { formatQuantity } from './frames/ether.ts';
import { AddressLink, BlockLink, BlockTime, Ether, Failed } from './parts.tsx';
import { linkTo } from './traceUrl.ts';
import type { Trace } from './types.ts';

interface TraceTableProps {
  readonly traces: readonly Trace[];
  readonly network: string;
  readonly here: string;
  readonly replaced: ReadonlySet<string>;
}

export function TraceTable({ traces, network, here, replaced }: TraceTableProps) {
  const columns: readonly Column<Trace>[] = [
    { title: 'Block', cell: ({ blockNumber }) => <BlockLink block={blockNumber} network={network} /> },
    { title: 'Time', cell: ({ blockNumber }) => <BlockTime block={blockNumber} network={network} /> },
    {
      title: 'From → to',
      cell(trace) {
        const { from, to } = partiesOf(trace);
        return (
          <span class="ends">
            <AddressLink address={from} network={network} here={here} /> →{' '}
            <AddressLink address={to} network={network} here={here} />
          </span>
        );
      },
    },
    { title: 'Value', isNumber: true, cell: (trace) => <Ether wei={valueMoved(trace)} /> },
    {
      title: 'Call',
      cell: (trace) => (
        <>
          <Called trace={trace} network={network} />{' '}
          {replaced.has(keyOfTrace(trace)) ? (
            <span class="look">▲ block replaced</span>
          ) : (
            <Failed reason={failureOfTrace(trace)} />
          )}
        </>
      ),
    },
    {
      title: 'Gas used',
      isNumber: true,
      cell(trace) {
        const gas = gasUsedOf(trace);
        return gas === undefined ? <span class="quiet">—</span> : formatQuantity(gas);
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

/** Shows the called function of a trace, as a link to its frame in the call tree of the transaction. */
function Called({ trace, network }: { readonly trace: Trace; readonly network: string }) {
  const called = <UntrustedText text={callLabel(trace)} />;
  if (trace.transactionHash === null) return called;
  const tree = linkTo({ kind: 'transaction', id: trace.transactionHash }, network);
  const frame =
    trace.traceAddress.length === 0
      ? ''
      : `${tree.includes('?') ? '&' : '?'}frame=${trace.traceAddress.join('.')}`;
  return <Link to={tree + frame}>{called}</Link>;
}
