import type { Schemas } from '../../api/types.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { ListButton } from '../lists/actions.tsx';

type SampledQuery = Schemas['SampledQueries']['queries'][number];

export function SampleList({ queries }: { readonly queries: readonly SampledQuery[] }) {
  return (
    <ul class="samples">
      {queries.map(({ name, type, network }) => (
        <li key={`${name} ${type} ${network}`}>
          <UntrustedText as="code" text={name} />
          <span>
            <ListButton list="allowlist" value={name} isName comment="From a sampled query" />
          </span>
          <span>{type}</span>
          <UntrustedText class="quiet" text={network} />
          <ListButton list="denylist" value={network} comment="From a sampled query" />
        </li>
      ))}
    </ul>
  );
}
