import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Failure } from '../../api/failure.ts';
import { type TaggedRule, updateRule } from '../../api/rules.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { showToast } from '../../ui/toast.tsx';
import { Conflict } from './conflict.tsx';
import {
  changesFrom,
  type Settings,
  SettingsFields,
  settingNames,
  settingsOf,
  settingTitles,
} from './settings.tsx';
import { scopeText } from './texts.ts';

export interface EditorProps {
  /** The rule as it was read last. */
  readonly tagged: TaggedRule;
  readonly reload: () => void;
}

/**
 * Form that edits a rule. If another client changes the rule, the form keeps the user's input and shows all values.
 */
export function Editor({ tagged, reload }: EditorProps) {
  const base = useSignal(tagged);
  const draft = useSignal(settingsOf(tagged.rule));
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  const mine = changesFrom(settingsOf(base.value.rule), draft.value);
  const isChanged = Object.keys(mine).length > 0;
  const isOld = base.value.etag !== tagged.etag;

  const begin = (from: TaggedRule, settings: Settings = settingsOf(from.rule)) => {
    base.value = from;
    draft.value = settings;
    failure.value = undefined;
  };
  // If the user has changed nothing, the form shows the newest version of the rule.
  useEffect(() => {
    if (!isChanged) begin(tagged);
  }, [tagged.etag]);

  const save = async (from: TaggedRule, patch: Partial<Settings>) => {
    isBusy.value = true;
    const outcome = await updateRule(from, patch);
    isBusy.value = false;
    if ('failure' in outcome) {
      failure.value = outcome.failure;
      if (outcome.failure.status === 412) reload();
      return;
    }
    begin(outcome.value);
    const before = settingsOf(from.rule);
    const undone = Object.fromEntries(
      Object.keys(patch).map((name) => [name, before[name as keyof Settings]]),
    );
    showToast(savedMessage(from, patch), async () => {
      const back = await updateRule(outcome.value, undone);
      showToast(
        'failure' in back
          ? `Not undone. ${back.failure.what}`
          : `Undone: the rule for ${scopeText(from.rule)} has its previous settings.`,
      );
    });
  };

  return (
    <form
      class="rule-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) void save(base.value, mine);
      }}
    >
      <SettingsFields
        value={draft.value}
        change={(settings) => {
          draft.value = settings;
        }}
      />
      {isOld && isChanged ? (
        <Conflict
          base={base.value.rule}
          theirs={tagged.rule}
          mine={draft.value}
          wasRejected={failure.value?.status === 412}
          sendMine={() => void save(tagged, mine)}
          discardMine={() => begin(tagged)}
        />
      ) : (
        failure.value && <ErrorBox failure={failure.value} />
      )}
      <div class="actions">
        <button type="button" disabled={!isChanged} onClick={() => begin(tagged)}>
          Discard changes
        </button>
        <button
          type="submit"
          class="primary"
          disabled={!isChanged || isBusy.value || (isOld && failure.value?.status === 412)}
        >
          Save
        </button>
      </div>
    </form>
  );
}

function savedMessage({ rule }: TaggedRule, patch: Partial<Settings>): string {
  const changed = settingNames.flatMap((name) => {
    const after = patch[name];
    return after === undefined ? [] : [`${settingTitles[name].toLowerCase()} ${rule[name]} → ${after}`];
  });
  return `Saved for ${scopeText(rule)}: ${changed.join(', ')}.`;
}
