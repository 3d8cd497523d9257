import { visible } from './visible.ts';

/** Text that somebody outside may have written: a name of DNS, a label, a message of a node. */
export function Plain({ text }: { readonly text: string }) {
  // In a direction of its own: what it holds does not move what stands beside it.
  return <bdi class="plain">{visible(text)}</bdi>;
}
