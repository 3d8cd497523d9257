import type { ComponentChildren } from 'preact';

/** A row. The key is the title, unless it is not a text. */
export type FactRow = readonly [title: ComponentChildren, content: ComponentChildren, key?: string];

interface FactsProps {
  /** Rows of the list; empty ones are omitted. */
  readonly rows: readonly (FactRow | false | undefined)[];
  readonly class?: string;
  /** Shown instead of missing contents. Default: nothing, while they are loading. */
  readonly unknown?: string | false;
}

/** List of titles with their contents. Each row reserves its space. */
export const Facts = ({ rows, class: className = '', unknown }: FactsProps) => (
  <dl class={`facts ${className}`}>
    {rows.map(
      (row) =>
        row && (
          <div key={row[2] ?? String(row[0])}>
            <dt>{row[0]}</dt>
            <dd>{row[1] || <span class="quiet">{unknown}</span>}</dd>
          </div>
        ),
    )}
  </dl>
);
