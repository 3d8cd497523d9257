import { Copy } from './copy.tsx';
import { escapeInvisible } from './value/escapeInvisible.ts';

interface LinesProps {
  readonly text: string;
  readonly class?: string;
}

/** Preformatted text with a button that copies it. Invisible characters are replaced by their code points. */
export const Lines = ({ text, class: className }: LinesProps) => (
  <div class="lines">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
    <pre tabIndex={0} class={className}>
      {text.split('\n').map(escapeInvisible).join('\n')}
    </pre>
    <Copy text={text} />
  </div>
);
