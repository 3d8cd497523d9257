import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Failure } from '../../api/failure.ts';
import { type TaggedRule, updateRule } from '../../api/rules.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { tell } from '../../ui/undo.tsx';
import { Conflict } from './conflict.tsx';
import {
  changesFrom,
  type Settings,
  SettingsFields,
  settingNames,
  settingsOf,
  settingTitles,
} from './settings.tsx';
import { placeOf } from './words.ts';

export interface EditorProps {
  /** The rule as it is now, as far as is known. */
  readonly tagged: TaggedRule;
  /** Reads it again. */
  readonly reread: () => void;
}

/**
 * Changes settings of the rule as it was when one began. Where somebody else changes it in between both versions are shown,
 * and what was written stays until it is sent or dropped.
 */
export function Editor({ tagged, reread }: EditorProps) {
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
  // Nothing was written yet: the newest is shown.
  // once for each version of the rule
  useEffect(() => {
    if (!isChanged) begin(tagged);
  }, [tagged.etag]);

  const save = async (from: TaggedRule, patch: Partial<Settings>) => {
    isBusy.value = true;
    const outcome = await updateRule(from, patch);
    isBusy.value = false;
    if ('failure' in outcome) {
      failure.value = outcome.failure;
      if (outcome.failure.status === 412) reread();
      return;
    }
    begin(outcome.value);
    const before = settingsOf(from.rule);
    const undone = Object.fromEntries(
      Object.keys(patch).map((name) => [name, before[name as keyof Settings]]),
    );
    tell(saidOf(from, patch), async () => {
      const back = await updateRule(outcome.value, undone);
      tell(
        'failure' in back
          ? `Not taken back. ${back.failure.what}`
          : `Taken back: the rule for ${placeOf(from.rule)} is as it was.`,
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
          wasRefused={failure.value?.status === 412}
          sendMine={() => void save(tagged, mine)}
          takeTheirs={() => begin(tagged)}
        />
      ) : (
        failure.value && <ErrorBox failure={failure.value} />
      )}
      <div class="actions">
        <button type="button" disabled={!isChanged} onClick={() => begin(tagged)}>
          Drop changes
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

function saidOf({ rule }: TaggedRule, patch: Partial<Settings>): string {
  const changed = settingNames.flatMap((name) => {
    const after = patch[name];
    return after === undefined ? [] : [`${settingTitles[name].toLowerCase()} ${rule[name]} → ${after}`];
  });
  return `Saved for ${placeOf(rule)}: ${changed.join(', ')}.`;
}
