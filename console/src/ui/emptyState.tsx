import type { ComponentChildren } from 'preact';
import { Lines } from './lines.tsx';

export interface EmptyStateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Whether it is the whole page, whose heading is then the title. */
  readonly isPage?: boolean;
  /** Shell commands that add an entry to the list. */
  readonly lines?: string;
}

/** Text that replaces an empty list and explains how to fill it. */
export function EmptyState({ title, children, isPage = false, lines }: EmptyStateProps) {
  return (
    <section class="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children && <p>{children}</p>}
      {lines && <Lines text={lines} />}
    </section>
  );
}
