import { Time } from '../../ui/value/time.tsx';
import { STATUS } from './texts.ts';

const WEEK_MS = 7 * 86_400_000;

export function Status({ status }: { readonly status: keyof typeof STATUS }) {
  return <span class={`state ${STATUS[status].tone}`}>{STATUS[status].word}</span>;
}

/** Shows when a token or key expires, with a warning sign in the week before. */
export function Expiry({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <span class="quiet">never</span>;
  const leftMs = Date.parse(at) - Date.now();
  const isSoon = leftMs > 0 && leftMs < WEEK_MS;
  return (
    <span class={isSoon ? 'look' : undefined}>
      {isSoon && '▲ '}
      <Time at={at} />
    </span>
  );
}
