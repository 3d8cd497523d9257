import { escapeInvisible } from './escapeInvisible.ts';

/** Shows untrusted text, such as a DNS name, a label or a message of a node. */
export function UntrustedText({ text }: { readonly text: string }) {
  // The element <bdi> keeps the text's direction from changing the text around it.
  return <bdi class="plain">{escapeInvisible(text)}</bdi>;
}
