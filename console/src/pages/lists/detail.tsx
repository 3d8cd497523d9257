import { entryCalls } from '../../api/account.ts';
import type { Tagged } from '../../api/collection.ts';
import type { AccessEntry, AccessListName } from '../../api/types.ts';
import { may } from '../../session.ts';
import { DetailPage } from '../../ui/detailPage.tsx';
import { EditForm, type FieldsProps } from '../../ui/form/editForm.tsx';
import { bindingOf, CheckField, TextField } from '../../ui/form/fields.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { entryValue, listTexts } from './entries.ts';

const titles = { enabled: 'In force', comment: 'Comment' } as const;
type Settings = Readonly<Record<keyof typeof titles, string>>;

const settingsOf = ({ enabled, comment }: AccessEntry): Settings => ({
  ...{ enabled: enabled ? 'yes' : 'no', comment },
});
const patchOf = ({ enabled, comment }: Partial<Settings>) => ({
  ...(enabled !== undefined && { enabled: enabled === 'yes' }),
  ...(comment !== undefined && { comment }),
});

export function EntryDetail({ list, id }: { readonly list: AccessListName; readonly id: string }) {
  const reads = useLoaded(() => entryCalls[list].read(id), [list, id]);
  const form = {
    ...{ settingsOf, titles, reload: reads.again, fields: Fields },
    // The heading shows the state, so the entry is read again after a change.
    update: (from: Tagged<AccessEntry>, changed: Partial<Settings>) =>
      entryCalls[list].update(from, patchOf(changed)).finally(reads.again),
  };
  return (
    <DetailPage of={reads} what="entry" list={['/lists', 'Both lists']}>
      {(tagged) => (
        <>
          <h1>
            <UntrustedText text={entryValue(tagged.item)} />
            {tagged.item.enabled ? ` is ${listTexts[list].past}.` : ': switched off.'}
          </h1>
          {may('dns_protection:write') ? (
            <EditForm kind="entry" name={entryValue(tagged.item)} {...form} tagged={tagged} />
          ) : (
            <p>
              Comment: <UntrustedText text={tagged.item.comment || 'none'} />
            </p>
          )}
        </>
      )}
    </DetailPage>
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
