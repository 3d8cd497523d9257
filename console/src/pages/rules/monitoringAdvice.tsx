import { readAnalytics } from '../../api/account.ts';
import type { Tagged } from '../../api/collection.ts';
import type { Counts, Rule } from '../../api/types.ts';
import { isGuarded, may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { useAction } from '../../ui/useAction.ts';
import { useLoaded } from '../../ui/useLoaded.ts';
import { counted, formatNumber, formatPercent } from '../../ui/value/quantity.tsx';
import { changeMode } from './changeMode.ts';

const REFRESH_MS = 5_000;

interface AdviceProps {
  readonly tagged: Tagged<Rule>;
  readonly isDeleting: boolean;
}

export function MonitoringAdvice({ tagged, isDeleting }: AdviceProps) {
  const isShown = isGuarded.value && tagged.item.mode === 'monitoring';
  const reads = useLoaded(isShown && (() => readAnalytics(tagged.item.id)), [tagged.etag, isShown], {
    isHeld: isDeleting,
    everyMs: REFRESH_MS,
  });
  const { failure, run } = useAction();
  if (!isShown) return null;
  const totals = reads.value?.result.totals;
  return (
    <section class="advice">
      <p>
        {totals === undefined ? (
          (reads.failure?.what ?? 'Reading what this rule would have dropped in the last hour …')
        ) : (
          <Findings totals={totals} />
        )}
      </p>
      {may('dns_protection:write') && (
        <button
          type="button"
          class={totals && findingsOf(totals).known === 0 ? 'primary' : undefined}
          onClick={() => void run(changeMode(tagged.item.id, 'enabled', tagged))}
        >
          Enable it …
        </button>
      )}
      {failure && <ErrorBox failure={failure} />}
    </section>
  );
}

/** Returns the number of queries that a rule would have dropped, and those for known names among them. */
function findingsOf({ would_drop, reasons }: Counts): { readonly all: number; readonly known: number } {
  const of = (reason: string) => reasons[reason]?.['would_drop'] ?? 0;
  return { all: would_drop, known: of('unknownType') + of('aboveUsual') };
}

/** Shows the numbers. Each part has its own line, so that a growing number does not move words to another line. */
function Findings({ totals }: { readonly totals: Counts }) {
  const { all, known } = findingsOf(totals);
  const queries = totals.passed + totals.paid + totals.would_drop;
  return (
    <>
      <span>
        In the last hour this rule would have dropped <strong>{formatNumber(all)}</strong> of{' '}
        {counted(queries, 'query', 'queries')},
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
