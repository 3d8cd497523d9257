import { readAudit, ruleCalls } from '../../api/account.ts';
import { may } from '../../session.ts';
import { Link } from '../../ui/link.tsx';
import { LoadState } from '../../ui/loadState.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { Differences } from '../activity/differences.tsx';
import { actorOf, verbOf } from '../activity/texts.ts';

export function History({ id, name }: { readonly id: string; readonly name: string }) {
  const isAllowed = may('dns_protection:audit');
  const read = isAllowed && (() => readAudit({ rule_id: id, per_page: 100 }));
  const reads = useLoaded(read, [id, ruleCalls.version.value, isAllowed]);
  const { value } = reads;
  return (
    <section>
      <h2>History</h2>
      {isAllowed ? (
        <LoadState of={reads} what="the history" />
      ) : (
        <p class="quiet">
          The history is shown to tokens with <code>dns_protection:audit</code>.
        </p>
      )}
      {value?.result.length === 0 && <p class="quiet">No changes of the rule for {name} are recorded.</p>}
      <ol class="history">
        {(value?.result ?? []).map((change) => (
          <li key={change.at}>
            <p>
              <Time at={change.at} /> <strong>{verbOf(change)}</strong> by{' '}
              <UntrustedText text={actorOf(change).name} />{' '}
              <span class="quiet">
                from <UntrustedText text={change.from} />
              </span>
            </p>
            <Differences change={change} />
          </li>
        ))}
      </ol>
      {value?.info.cursor !== undefined && (
        <Link to={`/activity?kind=rule&text=${encodeURIComponent(`rule for ${name}`)}`}>Older changes</Link>
      )}
    </section>
  );
}
