import type { ComponentChildren } from 'preact';
import { changeQuery } from '../navigate.ts';

/** Title of a button, and the parameters of the URL that it sets; undefined if there is no such page. */
type Target = readonly [title: string, query: Readonly<Record<string, string>> | undefined];

interface PagesProps {
  readonly newer: Target;
  readonly older: Target;
  readonly children?: ComponentChildren;
}

export function Pages({ newer, older, children }: PagesProps) {
  const button = ([title, query]: Target) => (
    <button type="button" disabled={query === undefined} onClick={() => changeQuery(query ?? {})}>
      {title}
    </button>
  );
  return (
    <nav class="pages" aria-label="Pages of the list">
      {button(newer)}
      {children}
      {button(older)}
    </nav>
  );
}
