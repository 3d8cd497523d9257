import { escapeInvisible } from './escapeInvisible.ts';

/** Words up to this length are not broken, such as an IPv4 address. Longer ones are broken anywhere. */
const LONG_WORD = /\S{25}/;

interface UntrustedTextProps {
  readonly text: string;
  /** Element that contains the text. Default: none, or `span` with a class. */
  readonly as?: 'code' | 'strong' | 'p' | 'del' | 'ins';
  readonly class?: string;
}

/** Shows untrusted text, such as a DNS name, a label or a message of a node. */
export function UntrustedText({ text, as, class: className }: UntrustedTextProps) {
  // The element <bdi> keeps the text's direction from changing the text around it.
  const shown = escapeInvisible(text);
  const isolated = <bdi class={LONG_WORD.test(shown) ? 'long' : undefined}>{shown}</bdi>;
  const Element = as ?? 'span';
  return as || className ? <Element class={className}>{isolated}</Element> : isolated;
}
