import { Time } from './time.tsx';

/** Headline of a page that has lost the contact to the server. */
export function UnknownSince({ since }: { readonly since: Date }) {
  return (
    <h1 class="quiet">
      ? Unknown since <Time at={since.toISOString()} form="clock" />.
    </h1>
  );
}
