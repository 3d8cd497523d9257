import { escapeInvisible } from './escapeInvisible.ts';

/** Words up to this length are not broken, such as an IPv4 address. Longer ones are broken anywhere. */
const LONG_WORD = /\S{25}/;

/** Shows untrusted text, such as a DNS name, a label or a message of a node. */
export function UntrustedText({ text }: { readonly text: string }) {
  // The element <bdi> keeps the text's direction from changing the text around it.
  const shown = escapeInvisible(text);
  return <bdi class={LONG_WORD.test(shown) ? 'long' : undefined}>{shown}</bdi>;
}
