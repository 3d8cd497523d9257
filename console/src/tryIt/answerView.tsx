import { Facts } from '../ui/facts.tsx';
import { Lines } from '../ui/lines.tsx';
import { UntrustedText } from '../ui/value/untrustedText.tsx';
import type { SentResponse } from './send.ts';

export function AnswerView({ answer }: { readonly answer: SentResponse }) {
  if ('error' in answer)
    return (
      <p class="harm" role="status">
        ✕ <UntrustedText text={answer.error} />
      </p>
    );
  const { status, ms, headers, text } = answer;
  const isGood = status < 300;
  return (
    <div class="answer">
      <p role="status">
        <strong class={isGood ? 'well' : 'harm'}>
          {isGood ? '✓' : '✕'} {status}
        </strong>{' '}
        <span class="quiet">after {ms.toFixed(ms < 10 ? 1 : 0)} ms</span>
      </p>
      {headers.length > 0 && (
        <Facts
          rows={headers.map(([name, value]) => [name, <UntrustedText as="code" key={name} text={value} />])}
        />
      )}
      {text !== '' && <Lines text={text} />}
    </div>
  );
}
