import type { ComponentChildren } from 'preact';
import { Copy } from './copy.tsx';

export interface EmptyStateProps {
  readonly title: string;
  /** What to do about it. */
  readonly children?: ComponentChildren;
  /** Lines for a shell that would fill it. */
  readonly lines?: string;
}

/** There is nothing yet, and this is how there would be something. */
export function EmptyState({ title, children, lines }: EmptyStateProps) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {lines && (
        <div class="lines">
          <pre>{lines}</pre>
          <Copy text={lines} />
        </div>
      )}
    </section>
  );
}
