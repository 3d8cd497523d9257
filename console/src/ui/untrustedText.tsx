import { escapeInvisible } from './escapeInvisible.ts';

/** Untrusted text: a DNS name, a label, a message of a node. */
export function UntrustedText({ text }: { readonly text: string }) {
  // <bdi> isolates the direction of the text from the text around it.
  return <bdi class="plain">{escapeInvisible(text)}</bdi>;
}
