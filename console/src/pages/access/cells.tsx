import { Time } from '../../ui/time.tsx';
import { STATUS } from './words.ts';

const WEEK_MS = 7 * 86_400_000;

export function Status({ status }: { readonly status: keyof typeof STATUS }) {
  return <span class={`status ${STATUS[status].tone}`}>{STATUS[status].word}</span>;
}

/** When it ends; with a sign where that is soon. */
export function Until({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <span class="quiet">for ever</span>;
  const leftMs = Date.parse(at) - Date.now();
  const isSoon = leftMs > 0 && leftMs < WEEK_MS;
  return (
    <span class={isSoon ? 'look' : undefined}>
      {isSoon && '▲ '}
      <Time at={at} />
    </span>
  );
}
