import { SaveCsv } from '../../ui/table/saveCsv.tsx';
import { counted } from '../../ui/value/quantity.tsx';
import { blockTimes } from './blockTimes.ts';
import { failureOfTrace, labelOf, partiesOf, valueMoved } from './frames/describe.ts';
import { decoder } from './names/names.ts';
import { useNetwork } from './traceUrl.ts';
import type { Trace } from './types.ts';

const TITLES = ['transaction', 'frame', 'block', 'time', 'method', 'from', 'to', 'value (wei)', 'error'];

interface CsvButtonProps {
  readonly name: string;
  readonly traces: readonly Trace[];
}

export function CsvButton({ name, traces }: CsvButtonProps) {
  const network = useNetwork();
  return (
    <SaveCsv
      name={name}
      rows={() => rowsOf(traces, network)}
      label={`CSV of ${counted(traces.length, 'row')}`}
      isEmpty={traces.length === 0}
    />
  );
}

const rowsOf = (traces: readonly Trace[], network: string): string[][] => [
  TITLES,
  ...traces.map((trace) => {
    const { from, to } = partiesOf(trace);
    const written = (address = '') => decoder.value?.checksummed(address) ?? address;
    return [
      trace.transactionHash ?? '',
      trace.traceAddress.join('.'),
      String(trace.blockNumber),
      blockTimes.get(network, trace.blockNumber) ?? '',
      labelOf(trace, decoder.value).text,
      written(from),
      written(to),
      String(valueMoved(trace)),
      failureOfTrace(trace) ?? '',
    ];
  }),
];
