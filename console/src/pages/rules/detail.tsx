import { useSignal } from '@preact/signals';
import { curlOf } from '../../api/client.ts';
import { ruleCalls } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { ruleInForceId, rulesVersion } from '../../live.ts';
import { isGuarded, may } from '../../session.ts';
import { Copy } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detailPage.tsx';
import { EditForm } from '../../ui/form/editForm.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { Time } from '../../ui/value/time.tsx';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { confirmAndDeleteRule } from './confirmAndDelete.ts';
import { History } from './history.tsx';
import { MonitoringAdvice } from './monitoringAdvice.tsx';
import { SettingsFields, settingNames, settingsOf, settingTitles } from './settings.tsx';
import { scopeText } from './texts.ts';

export function RuleDetail({ id }: { readonly id: string }) {
  // While a rule is being deleted, it is not read again: the live stream may report the deletion before the response.
  const isDeleting = useSignal(false);
  const reads = useLoaded(() => ruleCalls.read(id), [id, rulesVersion.value], isDeleting.value);
  const isGone = reads.loaded.value.failure?.status === 404;
  return (
    <DetailPage of={reads} what="rule" list={['/rules', 'All rules']}>
      {(tagged) => (
        <>
          <div class="head">
            <section>
              <h1>
                Rule for <UntrustedText text={scopeText(tagged.item)} />
                {isGone ? ': deleted' : <InForceTag rule={tagged.item} />}
              </h1>
              <p class="quiet">
                Created <Time at={tagged.item.created_on} />, changed <Time at={tagged.item.modified_on} />
              </p>
            </section>
            <div class="actions">
              <Copy text={tagged.item.id} label="Copy id" />
              <Copy text={() => curlOf(ruleCalls.callOf(tagged.item.id))} label="Copy as curl" />
              {may('dns_protection:write') && !isGone && (
                <button
                  type="button"
                  class="harm-outline"
                  onClick={() => void confirmAndDeleteRule(tagged, isDeleting)}
                >
                  Delete …
                </button>
              )}
            </div>
          </div>
          {!isGone && <MonitoringAdvice tagged={tagged} isDeleting={isDeleting.value} />}
          <div class="two-columns">
            <section>
              <h2>Settings</h2>
              {may('dns_protection:write') && !isGone ? (
                <EditForm
                  kind="rule"
                  name={scopeText(tagged.item)}
                  tagged={tagged}
                  settingsOf={({ item }) => settingsOf(item)}
                  titles={settingTitles}
                  update={ruleCalls.update}
                  reload={reads.again}
                  fields={SettingsFields}
                />
              ) : (
                <ReadOnly rule={tagged.item} />
              )}
            </section>
            <History id={id} name={scopeText(tagged.item)} />
          </div>
        </>
      )}
    </DetailPage>
  );
}

function InForceTag({ rule }: { readonly rule: Rule }) {
  if (!isGuarded.value) return null;
  // It is known only later whether this rule is in force. Until then, a hidden tag reserves the space.
  return <span class={rule.id === ruleInForceId.value ? 'tag' : 'tag away'}>in force here</span>;
}

function ReadOnly({ rule }: { readonly rule: Rule }) {
  return (
    <dl class="facts">
      {settingNames.map((name) => (
        <div key={name}>
          <dt>{settingTitles[name]}</dt>
          <dd>{rule[name].replace('_', ' ')}</dd>
        </div>
      ))}
    </dl>
  );
}
