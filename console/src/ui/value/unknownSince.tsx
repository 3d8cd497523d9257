import { Time } from './time.tsx';

export function UnknownSince({ since }: { readonly since: Date }) {
  return (
    <h1 class="quiet">
      ? Unknown since <Time at={since.toISOString()} form="clock" />.
    </h1>
  );
}
