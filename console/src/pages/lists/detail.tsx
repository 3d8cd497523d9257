import { entryCalls } from '../../api/account.ts';
import type { AccessEntry, AccessListName } from '../../api/types.ts';
import type { FieldsProps } from '../../ui/form/editForm.tsx';
import { bindingOf, CheckField, TextField } from '../../ui/form/fields.tsx';
import { RecordPage } from '../../ui/form/recordPage.tsx';
import { DELETED, entryValue, listTexts } from './entries.ts';

const titles = { enabled: 'In force', comment: 'Comment' } as const;
type Settings = Readonly<Record<keyof typeof titles, string>>;

const settingsOf = ({ enabled, comment }: AccessEntry): Settings => ({
  enabled: enabled ? 'yes' : 'no',
  comment,
});
const patchOf = ({ enabled, comment }: Partial<Settings>) => ({
  ...(enabled !== undefined && { enabled: enabled === 'yes' }),
  ...(comment !== undefined && { comment }),
});

export function EntryDetail({ list, id }: { readonly list: AccessListName; readonly id: string }) {
  return (
    <RecordPage
      kind="entry"
      list="/lists"
      id={id}
      calls={entryCalls[list]}
      titles={titles}
      settingsOf={settingsOf}
      patchOf={patchOf}
      nameOf={entryValue}
      deletion={async () => ({ text: DELETED })}
      tag={({ enabled }) => <span class="tag">{enabled ? listTexts[list].past : 'switched off'}</span>}
      fields={Fields}
    />
  );
}

const Fields = ({ value, change }: FieldsProps<Settings>) => (
  <>
    <CheckField
      label={titles.enabled}
      checked={value.enabled === 'yes'}
      change={(isWanted) => change({ ...value, enabled: isWanted ? 'yes' : 'no' })}
    />
    <TextField label={titles.comment} maxLength={256} text={bindingOf(value, change, 'comment')} />
  </>
);
