import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { readAudit } from '../../api/account.ts';
import type { Failure } from '../../api/failure.ts';
import type { Change } from '../../api/types.ts';
import { rulesVersion } from '../../live.ts';
import { may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { Differences } from '../activity/differences.tsx';
import { actorOf, verbOf } from '../activity/texts.ts';

export function History({ id, name }: { readonly id: string; readonly name: string }) {
  const changes = useSignal<readonly Change[] | undefined>(undefined);
  const next = useSignal<string | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  const isAllowed = may('dns_protection:audit');
  const read = async (cursor?: string) => {
    const answer = await readAudit({ rule_id: id, per_page: 100, cursor });
    if ('failure' in answer) {
      failure.value = answer.failure;
      return;
    }
    failure.value = undefined;
    changes.value = [...(cursor === undefined ? [] : (changes.peek() ?? [])), ...answer.value.result];
    next.value = answer.value.info.cursor;
  };
  useEffect(() => {
    if (isAllowed) void read();
  }, [id, rulesVersion.value, isAllowed]);
  return (
    <section>
      <h2>History</h2>
      {!isAllowed && (
        <p class="quiet">
          The history is shown to tokens with <code>dns_protection:audit</code>.
        </p>
      )}
      {failure.value && <ErrorBox failure={failure.value} retry={() => void read()} />}
      {changes.value?.length === 0 && <p class="quiet">No changes of the rule for {name} are recorded.</p>}
      <ol class="history">
        {(changes.value ?? []).map((change) => (
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
      {next.value !== undefined && (
        <button type="button" onClick={() => void read(next.value)}>
          Show older changes
        </button>
      )}
    </section>
  );
}
