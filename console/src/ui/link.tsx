import type { ComponentChildren } from 'preact';
import { goTo, hrefOf } from '../navigate.ts';
import { UntrustedText } from './value/untrustedText.tsx';

export interface LinkProps {
  /** Path of a page below /console. It may have a query. */
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly children?: ComponentChildren;
  /** Untrusted text of the link, instead of children. */
  readonly text?: string;
  /** Called before the page opens in this tab. */
  readonly leave?: () => void;
}

/** Link to another page of the console. It keeps the selected account. */
export function Link({ to, class: className, current = false, children, text, leave }: LinkProps) {
  return (
    <a
      href={hrefOf(to)}
      class={className}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return;
        event.preventDefault();
        leave?.();
        goTo(to);
      }}
    >
      {text === undefined ? children : <UntrustedText text={text} />}
    </a>
  );
}
