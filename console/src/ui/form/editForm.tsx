import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Tagged } from '../../api/collection.ts';
import type { Failure, Outcome } from '../../api/failure.ts';
import { ErrorBox } from '../errorBox.tsx';
import { showOutcome, showToast } from '../toast.tsx';
import { useAction } from '../useAction.ts';
import { Conflict } from './conflict.tsx';
import { useDraft } from './draft.ts';

export type Texts = Readonly<Record<string, string>>;

export interface FieldsProps<Settings> {
  readonly value: Settings;
  readonly change: (settings: Settings) => void;
  readonly failure: Failure | undefined;
}

export interface EditFormProps<Item, Settings extends Texts> {
  /** Kind of the object: `rule`. */
  readonly kind: string;
  readonly name: string;
  readonly tagged: Tagged<Item>;
  readonly settingsOf: (item: Item) => Settings;
  readonly titles: Readonly<Record<keyof Settings & string, string>>;
  /** Settings with which the form opens. Default: the current ones. */
  readonly initial?: Settings | undefined;
  /** Sends changes. Fails with status 412 if the object was changed after it was read. */
  readonly update: (from: Tagged<Item>, changes: Partial<Settings>) => Promise<Outcome<Tagged<Item>>>;
  readonly reload: () => void;
  readonly fields: (props: FieldsProps<Settings>) => ComponentChildren;
}

/**
 * Form that edits an object. If another client changes the object, the form keeps the user's input and shows all
 * values.
 */
export function EditForm<Item, Settings extends Texts>({
  tagged,
  settingsOf,
  titles,
  initial,
  reload,
  fields,
  ...props
}: EditFormProps<Item, Settings>) {
  const names = Object.keys(titles) as (keyof Settings & string)[];
  /** The version that the user edits, and its settings with the changes of the user. */
  const edited = useDraft(
    'edit',
    { base: tagged, draft: initial ?? settingsOf(tagged.item) },
    ({ base, draft }) => Object.keys(changesFrom(names, settingsOf(base.item), draft)).length > 0,
  );
  const { base, draft } = edited.value;
  const { failure, isBusy, run, forgetFailure } = useAction();
  /** ETag of the version that the last save replaced. `tagged` has this version until it is read again. */
  const replaced = useSignal<string | undefined>(undefined);
  const newest = tagged.etag === replaced.value ? base : tagged;
  const before = settingsOf(base.item);
  const mine = changesFrom(names, before, draft);
  const isChanged = Object.keys(mine).length > 0;
  const isOld = base.etag !== newest.etag;
  const wasRejected = failure?.status === 412;
  const isUnanswered = failure !== undefined && failure.status === undefined;

  const begin = (from: Tagged<Item>) => {
    edited.value = { base: from, draft: settingsOf(from.item) };
    forgetFailure();
  };
  useEffect(() => {
    const stored = settingsOf(newest.item);
    const isStored = Object.keys(mine).every((name) => stored[name] === mine[name]);
    if (isUnanswered && isStored) showToast(`The ${props.kind} for ${props.name} was saved.`);
    // If the user has changed nothing, the form shows the newest version of the object.
    if (isStored) begin(newest);
    else if (isUnanswered) {
      showToast(`The change of the ${props.kind} for ${props.name} was not saved. Save it again.`);
      forgetFailure();
    }
  }, [tagged]);

  const save = async (from: Tagged<Item>, patch: Partial<Settings>) => {
    const outcome = await run(props.update(from, patch));
    if ('failure' in outcome) {
      // Without a response, the stored object shows whether the change was saved.
      if (outcome.failure.status === 412 || outcome.failure.status === undefined) reload();
      return;
    }
    replaced.value = from.etag;
    begin(outcome.value);
    const old = settingsOf(from.item);
    const changed = names.filter((name) => patch[name] !== undefined);
    const changes = changed.map(
      (name) => `${titles[name].toLowerCase()} ${textOf(old[name])} → ${textOf(patch[name])}`,
    );
    showToast(`Saved for ${props.name}: ${changes.join(', ')}.`, async () => {
      const undone = Object.fromEntries(changed.map((name) => [name, old[name]])) as Partial<Settings>;
      const back = await props.update(outcome.value, undone);
      showOutcome(back, `Undone: the ${props.kind} for ${props.name} has its previous settings.`);
    });
  };

  return (
    <form
      class="edit-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) void save(base, mine);
      }}
    >
      {fields({
        value: draft,
        change: (settings) => (edited.value = { base, draft: settings }),
        failure,
      })}
      {isOld && isChanged ? (
        <Conflict
          kind={props.kind}
          rows={names.map((name) => ({
            title: titles[name],
            before: textOf(before[name]),
            theirs: textOf(settingsOf(newest.item)[name]),
            mine: textOf(draft[name]),
          }))}
          wasRejected={wasRejected}
          sendMine={() => void save(newest, mine)}
          discardMine={() => begin(newest)}
        />
      ) : (
        failure && <ErrorBox failure={failure} />
      )}
      <div class="actions">
        <button type="button" disabled={!isChanged} onClick={() => begin(newest)}>
          Discard changes
        </button>
        <button type="submit" class="primary" disabled={!isChanged || isBusy || (isOld && wasRejected)}>
          Save
        </button>
      </div>
    </form>
  );
}

const textOf = (value: string | undefined): string => value || 'not set';

function changesFrom<Settings extends Texts>(
  names: readonly (keyof Settings & string)[],
  before: Settings,
  after: Settings,
): Partial<Settings> {
  const changed = names.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<Settings>;
}
