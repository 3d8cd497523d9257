import { ErrorBox } from './errorBox.tsx';
import type { Reads } from './useLoaded.ts';

interface LoadStateProps {
  readonly of: Reads<unknown>;
  readonly what: string;
}

/** Shows that something is still being read, or why it could not be read. Otherwise nothing. */
export function LoadState({ of: { value, failure, again }, what }: LoadStateProps) {
  if (failure !== undefined) return <ErrorBox failure={failure} retry={again} isOver={value !== undefined} />;
  return value === undefined ? <Reading what={what} /> : null;
}

export const Reading = ({ what }: { readonly what: string }) => <p class="quiet">Reading {what} …</p>;
