import { Fragment } from 'preact';
import { Copy } from '../../ui/copy.tsx';
import { Plain } from '../../ui/plain.tsx';
import { visible } from '../../ui/visible.ts';
import type { RawAnswer } from './send.ts';

/** An answer as it came: its status, its time, what its headers say, and its text. */
export function AnswerView({ answer: { status, ms, headers, text } }: { readonly answer: RawAnswer }) {
  if (status === undefined)
    return (
      <p class="harm" role="status">
        ✕ No answer came: the server cannot be reached.
      </p>
    );
  const isGood = status < 300;
  // Line by line: a line's end is no character to be made visible.
  const shown = text.split('\n').map(visible).join('\n');
  return (
    <div class="answer">
      <p role="status">
        <strong class={isGood ? 'well' : 'harm'}>
          {isGood ? '✓' : '✕'} {status}
        </strong>{' '}
        <span class="quiet">after {ms.toFixed(ms < 10 ? 1 : 0)} ms</span>
      </p>
      {headers.length > 0 && (
        <dl class="facts">
          {headers.map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>
                <code>
                  <Plain text={value} />
                </code>
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
      {text !== '' && (
        <div class="lines">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
          <pre tabIndex={0}>{shown}</pre>
          <Copy text={text} />
        </div>
      )}
    </div>
  );
}
