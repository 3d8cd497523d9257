import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { curlOf } from '../../api/client.ts';
import type { collection, Tagged } from '../../api/collection.ts';
import { may } from '../../session.ts';
import { Copy } from '../copy.tsx';
import { DetailPage } from '../detailPage.tsx';
import { Facts } from '../facts.tsx';
import { useLoaded } from '../useLoaded.ts';
import { Time } from '../value/time.tsx';
import { UntrustedText } from '../value/untrustedText.tsx';
import type { Question } from './confirm.tsx';
import { confirmAndDelete, type StoredRecord } from './confirmAndDelete.ts';
import { EditForm, type FieldsProps, type Texts } from './editForm.tsx';

interface RecordPageProps<Item extends StoredRecord, Settings extends Texts, Patch> {
  readonly kind: 'rule' | 'policy' | 'entry';
  readonly id: string;
  readonly calls: ReturnType<typeof collection<Item, never, Patch>>;
  readonly list: '/rules' | '/zones' | '/lists';
  readonly nameOf: (item: Item) => string;
  /** Returns the consequence of a deletion, and the name that the user must type, if any. */
  readonly deletion: (item: Item) => Promise<Pick<Question, 'text' | 'typed'>>;
  readonly titles: Readonly<Record<keyof Settings & string, string>>;
  readonly settingsOf: (item: Item) => Settings;
  readonly patchOf: (changes: Partial<Settings>) => Patch;
  /** Settings that differ from the stored ones when the form opens. */
  readonly proposed?: Partial<Settings> | undefined;
  readonly fields: (props: FieldsProps<Settings>) => ComponentChildren;
  readonly tag?: (item: Item) => ComponentChildren;
  readonly actions?: (item: Item) => ComponentChildren;
  readonly above?: (tagged: Tagged<Item>, isDeleting: boolean) => ComponentChildren;
  readonly aside?: (item: Item) => ComponentChildren;
}

export function RecordPage<Item extends StoredRecord, Settings extends Texts, Patch>(
  props: RecordPageProps<Item, Settings, Patch>,
) {
  const { kind, id, calls, list, nameOf, titles, settingsOf } = props;
  // While a record is being deleted, it is not read again: the live stream may report the deletion first.
  const isDeleting = useSignal(false);
  const reads = useLoaded(() => calls.read(id), [id, calls.version.value], { isHeld: isDeleting.value });
  const isGone = reads.failure?.status === 404;
  const isEditable = may('dns_protection:write') && !isGone;
  const confirmDeletion = async (tagged: Tagged<Item>) => {
    const name = `The ${kind} for ${nameOf(tagged.item)}`;
    await confirmAndDelete(tagged, {
      question: {
        title: `Delete the ${kind} for ${nameOf(tagged.item)}?`,
        action: `Delete the ${kind}`,
        ...(await props.deletion(tagged.item)),
      },
      deleted: `${name} was deleted.`,
      restored: `${name} is restored, with a new id.`,
      calls,
      list,
      isDeleting,
    });
  };
  const settings = (tagged: Tagged<Item>) =>
    isEditable ? (
      <EditForm
        kind={kind}
        tagged={tagged}
        titles={titles}
        settingsOf={settingsOf}
        reload={reads.again}
        fields={props.fields}
        name={nameOf(tagged.item)}
        initial={props.proposed && { ...settingsOf(tagged.item), ...props.proposed }}
        update={(from, changes) => calls.update(from, props.patchOf(changes)).finally(reads.again)}
      />
    ) : (
      <Facts
        rows={Object.entries(settingsOf(tagged.item)).map(([name, text]) => [
          titles[name] ?? name,
          <UntrustedText key={name} text={text === 'very_high' ? 'very high' : text || 'not set'} />,
        ])}
      />
    );
  return (
    <DetailPage of={reads} what={kind} list={[list, `All ${list.slice(1)}`]}>
      {(tagged) => (
        <>
          <div class="head">
            <section>
              <h1>
                {kind.charAt(0).toUpperCase() + kind.slice(1)} for{' '}
                <UntrustedText text={nameOf(tagged.item)} />
                {isGone ? ': deleted' : props.tag?.(tagged.item)}
              </h1>
              <p class="quiet">
                Created <Time at={tagged.item.created_on} />, changed <Time at={tagged.item.modified_on} />
              </p>
            </section>
            <div class="actions">
              <Copy text={id} label="Copy id" />
              <Copy text={() => curlOf(calls.callOf(id))} label="Copy as curl" />
              {isEditable && props.actions?.(tagged.item)}
              {isEditable && (
                <button type="button" class="harm-outline" onClick={() => void confirmDeletion(tagged)}>
                  Delete …
                </button>
              )}
            </div>
          </div>
          {!isGone && props.above?.(tagged, isDeleting.value)}
          {props.aside ? (
            <div class="two-columns">
              <section>
                <h2>Settings</h2>
                {settings(tagged)}
              </section>
              {props.aside(tagged.item)}
            </div>
          ) : (
            <section>{settings(tagged)}</section>
          )}
        </>
      )}
    </DetailPage>
  );
}
