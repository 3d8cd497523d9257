import { readSamples } from '../../api/account.ts';
import type { Schemas } from '../../api/types.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { counted } from '../../ui/value/quantity.tsx';
import { Time } from '../../ui/value/time.tsx';
import { SampleList } from '../attacks/sampleList.tsx';

type SampledSecond = Schemas['SampledQueries'];

interface SamplesProps {
  /** Second since 1970 that the user picked in a graph. */
  readonly at: number | undefined;
  readonly hasSeconds: boolean;
}

export function Samples({ at, hasSeconds }: SamplesProps) {
  if (!hasSeconds)
    return <p class="quiet samples-hint">Sample queries exist for each second of the last 10 minutes.</p>;
  if (at === undefined)
    return <p class="quiet samples-hint">Click a second, or press Enter on it, for sample queries.</p>;
  return <SamplesOf at={at} />;
}

function SamplesOf({ at }: { readonly at: number }) {
  const { value, failure } = useLoaded(() => readSamples(at), [at]);
  return (
    <section class="samples-of" aria-live="polite">
      <h3>
        Sample queries of <Time at={new Date(at * 1000).toISOString()} form="clock" />
      </h3>
      {failure && <ErrorBox failure={failure} />}
      {value && <Sampled sampled={value.result} />}
    </section>
  );
}

function Sampled({ sampled: { limited, queries } }: { readonly sampled: SampledSecond }) {
  if (queries.length === 0)
    return (
      <p class="quiet">
        No samples of this second. The guard samples queries that it limits or would limit, over UDP.
      </p>
    );
  return (
    <>
      <p class="quiet">
        {queries.length} of {counted(limited, 'query', 'queries')} that the guard limited, or would have:
      </p>
      <SampleList queries={queries} />
    </>
  );
}
