import { useSignal } from '@preact/signals';
import { useSearch } from 'wouter-preact';
import { curlOf } from '../../api/client.ts';
import { policyCalls } from '../../api/zones.ts';
import { zonesVersion } from '../../live.ts';
import { may } from '../../session.ts';
import { Copy } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detailPage.tsx';
import { EditForm } from '../../ui/form/editForm.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { confirmAndDeletePolicy, confirmAndForget } from './actions.ts';
import { PolicyFields } from './policyFields.tsx';
import { membersOf, type PolicySettings, policySettingsOf, policyTitles, proposedIn } from './settings.ts';

export function PolicyDetail({ id }: { readonly id: string }) {
  const proposed = proposedIn(useSearch());
  // While a policy is being deleted, it is not read again: the live stream may report the deletion first.
  const isDeleting = useSignal(false);
  const reads = useLoaded(() => policyCalls.read(id), [id, zonesVersion.value], isDeleting.value);
  const isGone = reads.loaded.value.failure?.status === 404;
  const isEditable = may('dns_protection:write') && !isGone;
  return (
    <DetailPage of={reads} what="policy" list={['/zones', 'All zones']}>
      {(tagged) => (
        <>
          <div class="head">
            <section>
              <h1>
                Policy for <UntrustedText text={tagged.item.zone} />
                {isGone && ': deleted'}
              </h1>
              <p class="quiet">
                Created <Time at={tagged.item.created_on} />, changed <Time at={tagged.item.modified_on} />
              </p>
            </section>
            <div class="actions">
              <Copy text={id} label="Copy id" />
              <Copy text={() => curlOf(policyCalls.callOf(id))} label="Copy as curl" />
              {isEditable && (
                <>
                  <button type="button" onClick={() => void confirmAndForget(tagged.item)}>
                    Forget what was learned …
                  </button>
                  <button
                    type="button"
                    class="harm-outline"
                    onClick={() => void confirmAndDeletePolicy(tagged, isDeleting)}
                  >
                    Delete …
                  </button>
                </>
              )}
            </div>
          </div>
          <section>
            {isEditable ? (
              <EditForm
                kind="policy"
                name={tagged.item.zone}
                tagged={tagged}
                settingsOf={({ item }) => policySettingsOf(item)}
                titles={policyTitles}
                initial={proposed && { ...policySettingsOf(tagged.item), ...proposed }}
                update={(from, patch) => policyCalls.update(from, membersOf(patch))}
                reload={reads.again}
                fields={PolicyFields}
              />
            ) : (
              <ReadOnly settings={policySettingsOf(tagged.item)} />
            )}
          </section>
        </>
      )}
    </DetailPage>
  );
}

function ReadOnly({ settings }: { readonly settings: PolicySettings }) {
  return (
    <dl class="facts">
      {Object.entries(policyTitles).map(([name, title]) => (
        <div key={name}>
          <dt>{title}</dt>
          <dd>
            <UntrustedText text={settings[name as keyof PolicySettings] || 'not set'} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
