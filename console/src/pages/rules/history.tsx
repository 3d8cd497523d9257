import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Failure } from '../../api/failure.ts';
import { changesOfRule } from '../../api/rules.ts';
import type { Rule, RuleChange } from '../../api/types.ts';
import { rulesVersion } from '../../live.ts';
import { may } from '../../session.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Time } from '../../ui/time.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';

const ACTIONS: Readonly<Record<RuleChange['action'], string>> = {
  'rule.create': 'created',
  'rule.update': 'changed',
  'rule.delete': 'deleted',
};
/** Members that are not shown in the history, because the server sets them and not the author of the change. */
const HIDDEN_MEMBERS: ReadonlySet<string> = new Set(['id', 'created_on', 'modified_on']);

/** List of the changes of a rule with time and author, newest first. */
export function History({ id, name }: { readonly id: string; readonly name: string }) {
  const changes = useSignal<readonly RuleChange[] | undefined>(undefined);
  const next = useSignal<string | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  const isAllowed = may('dns_protection:audit');
  const read = async (cursor?: string) => {
    const answer = await changesOfRule(id, cursor);
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
              <Time at={change.at} /> <strong>{ACTIONS[change.action]}</strong> by{' '}
              <UntrustedText text={change.label ?? change.by} />{' '}
              <span class="quiet">
                from <UntrustedText text={change.from} />
              </span>
            </p>
            <Differences before={change.before} after={change.after} />
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

interface DifferencesProps {
  readonly before: Rule | undefined;
  readonly after: Rule | undefined;
}

function Differences({ before, after }: DifferencesProps) {
  const names = Object.keys(after ?? before ?? {}) as (keyof Rule)[]; // the members of a rule
  const reported = names.filter((name) => !HIDDEN_MEMBERS.has(name) && before?.[name] !== after?.[name]);
  return (
    <ul class="differences">
      {reported.map((name) => (
        <li key={name}>
          <span class="quiet">{name}</span>{' '}
          {before !== undefined && (
            <del>
              <UntrustedText text={before[name]} />
            </del>
          )}{' '}
          {after !== undefined && (
            <ins>
              <UntrustedText text={after[name]} />
            </ins>
          )}
        </li>
      ))}
    </ul>
  );
}
