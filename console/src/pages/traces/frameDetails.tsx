import { Address } from '../../ui/address.tsx';
import { Copy } from '../../ui/copy.tsx';
import { wordFor } from '../../ui/quantity.tsx';
import type { Frame } from './callTree.ts';
import { dataOf, endsOf, failureOfTrace, movedBy } from './describe.ts';
import { countText } from './ether.ts';
import { CopyCall, Ether, Failed } from './parts.tsx';

/** All of a call: who, how much, and what went in and came out. */
export function FrameDetails({
  frame: { trace, path },
  network,
}: {
  readonly frame: Frame;
  readonly network: string;
}) {
  const { from, to } = endsOf(trace);
  const { input, output } = dataOf(trace);
  const place = path === '' ? [] : path.split('.').map((index) => `0x${Number(index).toString(16)}`);
  return (
    <div class="frame-details">
      <dl class="facts">
        <dt>from</dt>
        <dd>{from ? <Address value={from} /> : '—'}</dd>
        <dt>to</dt>
        <dd>{to ? <Address value={to} /> : '—'}</dd>
        <dt>value</dt>
        <dd>
          <Ether wei={movedBy(trace)} />
        </dd>
        {'gas' in trace.action && (
          <>
            <dt>gas given</dt>
            <dd>{countText(trace.action.gas)}</dd>
          </>
        )}
        {failureOfTrace(trace) !== undefined && (
          <>
            <dt>failed</dt>
            <dd>
              <Failed reason={failureOfTrace(trace)} />
            </dd>
          </>
        )}
      </dl>
      <Data
        name={trace.type === 'create' ? 'init code' : 'input'}
        hex={input}
        hasSelector={trace.type === 'call'}
      />
      <Data name={trace.type === 'create' ? 'code' : 'output'} hex={output} hasSelector={false} />
      {trace.transactionHash !== null && (
        <CopyCall call={{ network, method: 'trace_get', params: [trace.transactionHash, place] }} />
      )}
    </div>
  );
}

const SELECTOR_DIGITS = 8;
const WORD_DIGITS = 64;
/** Of what a contract may make as long as it pays for; all of it is copied. */
const MAX_WORDS = 64;

interface DataProps {
  readonly name: string;
  readonly hex: string | undefined;
  readonly hasSelector: boolean;
}

/** Bytes as words of 32, as the ABI has them. */
function Data({ name, hex, hasSelector }: DataProps) {
  if (hex === undefined || hex === '0x') return null;
  const digits = hex.slice(2);
  const start = hasSelector && digits.length % WORD_DIGITS === SELECTOR_DIGITS ? SELECTOR_DIGITS : 0;
  const words = digits.slice(start, start + MAX_WORDS * WORD_DIGITS).match(/.{1,64}/g) ?? [];
  const hidden = digits.length - start - words.join('').length;
  return (
    <figure class="data">
      <figcaption>
        {name}, {countText(digits.length / 2)} {wordFor(digits.length / 2, 'byte', 'bytes')}{' '}
        <Copy text={hex} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <pre tabIndex={0}>
        {start > 0 && `0x${digits.slice(0, start)}\n`}
        {words.join('\n')}
        {hidden > 0 && `\n… ${countText(hidden / 2)} more bytes; all of them are copied`}
      </pre>
    </figure>
  );
}
