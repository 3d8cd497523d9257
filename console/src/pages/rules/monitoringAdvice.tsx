import { computed, useSignal } from '@preact/signals';
import type { Failure } from '../../api/failure.ts';
import { type Counts, readAnalytics, type TaggedRule, wouldRefuse } from '../../api/rules.ts';
import { turnOf } from '../../live.ts';
import { isGuarded, may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { numberText, percentText, wordFor } from '../../ui/quantity.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { changeMode } from './changeMode.ts';

const REFRESH_MS = 5_000;
const turn = computed(() => turnOf(REFRESH_MS));

/** Of a rule in monitoring: what it would have refused in the last hour, and whether to enable it. */
export function MonitoringAdvice(props: AdviceProps) {
  if (!isGuarded.value || props.tagged.rule.mode !== 'monitoring') return null;
  return <Advice {...props} />;
}

interface AdviceProps {
  readonly tagged: TaggedRule;
  readonly isDeleting: boolean;
}

function Advice({ tagged, isDeleting }: AdviceProps) {
  const { loaded } = useLoaded(() => readAnalytics(tagged.rule.id), [tagged.etag, turn.value], isDeleting);
  const failure = useSignal<Failure | undefined>(undefined);
  const totals = loaded.value.value?.result.totals;
  const enable = async () => {
    failure.value = await changeMode(tagged, 'enabled');
  };
  return (
    <section class="advice">
      <p>
        {totals === undefined ? (
          (loaded.value.failure?.what ?? 'Reading what this rule would have refused in the last hour …')
        ) : (
          <Findings totals={totals} />
        )}
      </p>
      {may('dns_protection:write') && (
        <button
          type="button"
          class={totals && wouldRefuse(totals).known === 0 ? 'primary' : undefined}
          onClick={() => void enable()}
        >
          Enable it …
        </button>
      )}
      {failure.value && <ErrorBox failure={failure.value} />}
    </section>
  );
}

/** Each piece is a line: a number that grows moves no word to another one. */
function Findings({ totals }: { readonly totals: Counts }) {
  const { all, known } = wouldRefuse(totals);
  const queries = totals.passed + totals.paid + totals.would_drop;
  return (
    <>
      <span>
        In the last hour this rule would have refused <strong>{numberText(all)}</strong> of{' '}
        {numberText(queries)} {wordFor(queries, 'query', 'queries')},
      </span>{' '}
      <span>
        of which <strong class={known > 0 ? 'look' : undefined}>{numberText(known)}</strong> for names that
        the guard knows
        {all > 0 && known > 0 && ` (${percentText(known / all)} of them)`}.
      </span>{' '}
      {all > 0 && known === 0 && <span class="well">✓ No user would have been refused.</span>}
      {known > 0 && <span class="look">! Look at these first: a lower sensitivity may be better.</span>}
    </>
  );
}
