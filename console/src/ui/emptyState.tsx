import type { ComponentChildren } from 'preact';
import { Lines } from './lines.tsx';

export interface EmptyStateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Shell commands that add an entry to the list. */
  readonly lines?: string;
}

/** Text that replaces an empty list and explains how to fill it. */
export function EmptyState({ title, children, lines }: EmptyStateProps) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {lines && <Lines text={lines} />}
    </section>
  );
}
