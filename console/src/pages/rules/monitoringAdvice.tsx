import { computed, useSignal } from '@preact/signals';
import type { Tagged } from '../../api/collection.ts';
import type { Failure } from '../../api/failure.ts';
import { type Counts, readAnalytics, wouldDropCounts } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { refreshPeriod } from '../../live.ts';
import { isGuarded, may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { formatNumber, formatPercent, pluralOf } from '../../ui/value/quantity.tsx';
import { changeMode } from './changeMode.ts';

const REFRESH_MS = 5_000;
const turn = computed(() => refreshPeriod(REFRESH_MS));

/** Shows how many queries a rule in monitoring mode would have dropped in the last hour, and offers to enable it. */
export function MonitoringAdvice(props: AdviceProps) {
  if (!isGuarded.value || props.tagged.item.mode !== 'monitoring') return null;
  return <Advice {...props} />;
}

interface AdviceProps {
  readonly tagged: Tagged<Rule>;
  readonly isDeleting: boolean;
}

function Advice({ tagged, isDeleting }: AdviceProps) {
  const { loaded } = useLoaded(() => readAnalytics(tagged.item.id), [tagged.etag, turn.value], isDeleting);
  const failure = useSignal<Failure | undefined>(undefined);
  const totals = loaded.value.value?.result.totals;
  const enable = async () => {
    failure.value = await changeMode(tagged, 'enabled');
  };
  return (
    <section class="advice">
      <p>
        {totals === undefined ? (
          (loaded.value.failure?.what ?? 'Reading what this rule would have dropped in the last hour …')
        ) : (
          <Findings totals={totals} />
        )}
      </p>
      {may('dns_protection:write') && (
        <button
          type="button"
          class={totals && wouldDropCounts(totals).known === 0 ? 'primary' : undefined}
          onClick={() => void enable()}
        >
          Enable it …
        </button>
      )}
      {failure.value && <ErrorBox failure={failure.value} />}
    </section>
  );
}

/** Shows the numbers. Each part has its own line, so that a growing number does not move words to another line. */
function Findings({ totals }: { readonly totals: Counts }) {
  const { all, known } = wouldDropCounts(totals);
  const queries = totals.passed + totals.paid + totals.would_drop;
  return (
    <>
      <span>
        In the last hour this rule would have dropped <strong>{formatNumber(all)}</strong> of{' '}
        {formatNumber(queries)} {pluralOf(queries, 'query', 'queries')},
      </span>{' '}
      <span>
        <strong class={known > 0 ? 'look' : undefined}>{formatNumber(known)}</strong> of them for names that
        the guard knows
        {all > 0 && known > 0 && ` (${formatPercent(known / all)})`}.
      </span>{' '}
      {all > 0 && known === 0 && <span class="well">✓ No user would have been affected.</span>}
      {known > 0 && <span class="look">! Check these first: a lower sensitivity may be better.</span>}
    </>
  );
}
