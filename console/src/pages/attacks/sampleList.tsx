import type { Schemas } from '../../api/types.ts';
import { UntrustedText } from '../../ui/untrustedText.tsx';

type SampledQuery = Schemas['SampledQueries']['queries'][number];

/** List of sampled queries: name, type and network of the client. */
export function SampleList({ queries }: { readonly queries: readonly SampledQuery[] }) {
  return (
    <ul class="samples">
      {queries.map(({ name, type, network }) => (
        <li key={`${name} ${type} ${network}`}>
          <code>
            <UntrustedText text={name} />
          </code>{' '}
          {type}{' '}
          <span class="quiet">
            <UntrustedText text={network} />
          </span>
        </li>
      ))}
    </ul>
  );
}
