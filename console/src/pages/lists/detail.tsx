import { curlOf } from '../../api/client.ts';
import { type AccessListName, entryCall, readEntry, type TaggedEntry, updateEntry } from '../../api/lists.ts';
import { refreshPeriod } from '../../live.ts';
import { goTo } from '../../navigate.ts';
import { may } from '../../session.ts';
import { Copy } from '../../ui/copy.tsx';
import { EditForm, type FieldsProps } from '../../ui/editForm.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { Time } from '../../ui/time.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { confirmAndDelete } from './actions.tsx';
import { entryValue, listTexts } from './entries.ts';

const REFRESH_MS = 10_000;
const titles = { enabled: 'In force', comment: 'Comment' } as const;
type Settings = Readonly<Record<keyof typeof titles, string>>;

const settingsOf = ({ entry: { enabled, comment } }: TaggedEntry): Settings => ({
  enabled: enabled ? 'yes' : 'no',
  comment,
});

export function EntryDetail({ list, id }: { readonly list: AccessListName; readonly id: string }) {
  const { loaded, again } = useLoaded(() => readEntry(list, id), [list, id, refreshPeriod(REFRESH_MS)]);
  const { value: tagged, failure } = loaded.value;
  const isEditable = may('dns_protection:write') && failure?.status !== 404;
  return (
    <div class="page">
      <p class="way-back">
        <Link to="/lists">← Both lists</Link>
      </p>
      {failure && <ErrorBox failure={failure} retry={again} />}
      {tagged === undefined && failure === undefined && <h1 class="quiet">Reading the entry …</h1>}
      {tagged !== undefined && (
        <>
          <div class="head">
            <section>
              <h1>
                <UntrustedText text={entryValue(tagged.entry)} />
                {tagged.entry.enabled ? ` is ${listTexts[list].past}.` : ': switched off.'}
              </h1>
              <p class="quiet">
                Created <Time at={tagged.entry.created_on} />, changed <Time at={tagged.entry.modified_on} />
              </p>
            </section>
            <div class="actions">
              <Copy text={() => curlOf(entryCall(list, id))} label="Copy as curl" />
              {isEditable && (
                <button
                  type="button"
                  class="harm-outline"
                  onClick={async () => {
                    if (await confirmAndDelete(list, id)) goTo('/lists');
                  }}
                >
                  Delete …
                </button>
              )}
            </div>
          </div>
          {isEditable ? (
            <EditForm
              kind="entry"
              name={entryValue(tagged.entry)}
              tagged={tagged}
              settingsOf={settingsOf}
              titles={titles}
              update={(from, { enabled, comment }) =>
                updateEntry(from, {
                  ...(enabled !== undefined && { enabled: enabled === 'yes' }),
                  ...(comment !== undefined && { comment }),
                })
              }
              reload={again}
              fields={Fields}
            />
          ) : (
            <dl class="facts">
              <dt>{titles.enabled}</dt>
              <dd>{tagged.entry.enabled ? 'yes' : 'no'}</dd>
              <dt>{titles.comment}</dt>
              <dd>
                <UntrustedText text={tagged.entry.comment || 'not set'} />
              </dd>
            </dl>
          )}
        </>
      )}
    </div>
  );
}

function Fields({ value, change }: FieldsProps<Settings>) {
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={value.enabled === 'yes'}
          onChange={({ currentTarget }) =>
            change({ ...value, enabled: currentTarget.checked ? 'yes' : 'no' })
          }
        />
        {titles.enabled}
      </label>
      <label>
        {titles.comment}
        <input
          name="comment"
          maxLength={256}
          autocomplete="off"
          value={value.comment}
          onInput={({ currentTarget }) => change({ ...value, comment: currentTarget.value })}
        />
      </label>
    </>
  );
}
