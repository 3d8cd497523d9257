import { Copy } from '../../../ui/copy.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { counted } from '../../../ui/value/quantity.tsx';
import { DecodedData } from '../names/decodedData.tsx';
import { decoder } from '../names/names.ts';
import { AddressLink, CopyCall, Ether, Failed } from '../parts.tsx';
import type { Trace } from '../types.ts';
import type { Frame } from './callTree.ts';
import { dataOf, failureOfTrace, partiesOf, valueIn, whyNotMoved } from './describe.ts';
import { formatQuantity } from './ether.ts';

export function FrameDetails({ frame: { trace, path, isUndone } }: { readonly frame: Frame }) {
  const { from, to } = partiesOf(trace);
  const { input, output } = dataOf(trace);
  const value = valueIn(trace);
  const notMoved = value === 0n ? undefined : whyNotMoved(trace, isUndone);
  const place = path === '' ? [] : path.split('.').map((index) => `0x${Number(index).toString(16)}`);
  const failure = failureOfTrace(trace);
  return (
    <div class="frame-details">
      <Facts
        rows={[
          ['From', <AddressLink key="from" address={from} copies />],
          ['To', <AddressLink key="to" address={to} copies />],
          [
            'Value',
            <>
              <Ether wei={value} />
              {notMoved !== undefined && <span class="quiet">, not moved: {notMoved}</span>}
            </>,
          ],
          'gas' in trace.action && ['Gas provided', formatQuantity(trace.action.gas)],
          failure !== undefined && ['Error', <Failed key="error" reason={failure} />],
        ]}
      />
      <DecodedCall trace={trace} />
      <Data
        name={trace.type === 'create' ? 'Init code' : 'Input'}
        hex={input}
        hasSelector={trace.type === 'call'}
      />
      <Data name={trace.type === 'create' ? 'Code' : 'Output'} hex={output} hasSelector={false} />
      {trace.transactionHash !== null && (
        <CopyCall method="trace_get" params={[trace.transactionHash, place]} />
      )}
    </div>
  );
}

function DecodedCall({ trace }: { readonly trace: Trace }) {
  if (trace.type !== 'call' || decoder.value === undefined) return null;
  const { to, input } = trace.action;
  const output = trace.result?.output ?? '0x';
  const hasFailed = failureOfTrace(trace) !== undefined;
  const result = hasFailed ? decoder.value.error(to, output) : decoder.value.result(to, input, output);
  return (
    <>
      <DecodedData title="Call" candidates={decoder.value.call(to, input)} />
      <DecodedData title={hasFailed ? 'Error' : 'Result'} candidates={result} />
    </>
  );
}

const SELECTOR_DIGITS = 8;
const WORD_DIGITS = 64;
/** Maximum number of displayed 32-byte words, because contracts can produce long data. The copy button copies all. */
const MAX_WORDS = 64;

interface DataProps {
  readonly name: string;
  readonly hex: string | undefined;
  readonly hasSelector: boolean;
}

/** Shows input or output as words of 32 bytes, one per line, as the ABI encodes values. */
function Data({ name, hex, hasSelector }: DataProps) {
  if (hex === undefined || hex === '0x') return null;
  const digits = hex.slice(2);
  const start = hasSelector && digits.length % WORD_DIGITS === SELECTOR_DIGITS ? SELECTOR_DIGITS : 0;
  const words = digits.slice(start, start + MAX_WORDS * WORD_DIGITS).match(/.{1,64}/g) ?? [];
  const hidden = digits.length - start - words.join('').length;
  return (
    <figure class="data">
      <figcaption>
        {name}, {counted(digits.length / 2, 'byte')} <Copy text={hex} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <pre tabIndex={0}>
        {start > 0 && `0x${digits.slice(0, start)}\n`}
        {words.join('\n')}
        {hidden > 0 && `\n… ${formatQuantity(hidden / 2)} more bytes; Copy copies all of them`}
      </pre>
    </figure>
  );
}
