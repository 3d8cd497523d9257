import { type Column, Table } from '../../../ui/table/table.tsx';
import { unitOf, valueColumn } from '../amount.tsx';
import { failureOfTrace, keyOfTrace, labelOf, partiesOf, valueMoved } from '../frames/describe.ts';
import { decoder } from '../names/names.ts';
import { NameText } from '../names/nameText.tsx';
import { AddressLink, BlockLink, BlockTime, Failed, FrameLink } from '../parts.tsx';
import { useQuery } from '../traceUrl.ts';
import type { Trace } from '../types.ts';

interface TraceTableProps {
  readonly traces: readonly Trace[];
  readonly here: string;
  readonly replaced: ReadonlySet<string>;
}

export function TraceTable({ traces, here, replaced }: TraceTableProps) {
  const unit = unitOf(useQuery());
  const columns: readonly Column<Trace>[] = [
    { title: 'Transaction', cell: (trace) => <FrameLink trace={trace} /> },
    { title: 'Block', cell: ({ blockNumber }) => <BlockLink block={blockNumber} /> },
    { title: 'Date', cell: ({ blockNumber }) => <BlockTime block={blockNumber} /> },
    {
      title: 'Method',
      cell: (trace) => (
        <span>
          <NameText name={labelOf(trace, decoder.value)} />{' '}
          {replaced.has(keyOfTrace(trace)) ? (
            <span class="look">▲ block replaced</span>
          ) : (
            <Failed reason={failureOfTrace(trace)} />
          )}
        </span>
      ),
    },
    { title: 'From or to', cell: (trace) => <OtherSide trace={trace} here={here} /> },
    valueColumn(traces, unit, (trace) => valueMoved(trace)),
  ];
  return (
    <Table
      caption="Traces"
      columns={columns}
      rows={traces}
      isWhole
      keyOf={keyOfTrace}
      isMarked={(trace) => replaced.has(keyOfTrace(trace))}
    />
  );
}

interface OtherSideProps {
  readonly trace: Trace;
  readonly here: string;
}

function OtherSide({ trace, here }: OtherSideProps) {
  const { from, to } = partiesOf(trace);
  if (from === here && to === here) return <span class="quiet">itself</span>;
  const isOut = from === here;
  return (
    <span class="ends">
      <span class="direction quiet">{isOut ? 'to' : 'from'}</span>
      <AddressLink address={isOut ? to : from} />
    </span>
  );
}
