import { useSignal } from '@preact/signals';
import { curlOf } from '../../api/client.ts';
import { readRule, ruleCall, updateRule } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { ruleInForceId, rulesVersion } from '../../live.ts';
import { isGuarded, may } from '../../session.ts';
import { Copy } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detailPage.tsx';
import { EditForm } from '../../ui/editForm.tsx';
import { Time } from '../../ui/time.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { confirmAndDelete } from './confirmAndDelete.ts';
import { History } from './history.tsx';
import { MonitoringAdvice } from './monitoringAdvice.tsx';
import { SettingsFields, settingNames, settingsOf, settingTitles } from './settings.tsx';
import { scopeText } from './texts.ts';

export function RuleDetail({ id }: { readonly id: string }) {
  // While a rule is being deleted, it is not read again: the live stream may report the deletion before the response.
  const isDeleting = useSignal(false);
  const reads = useLoaded(() => readRule(id), [id, rulesVersion.value], isDeleting.value);
  const isGone = reads.loaded.value.failure?.status === 404;
  return (
    <DetailPage of={reads} what="rule" list={['/rules', 'All rules']}>
      {(tagged) => (
        <>
          <div class="head">
            <section>
              <h1>
                Rule for <UntrustedText text={scopeText(tagged.rule)} />
                {isGone ? ': deleted' : <InForceTag rule={tagged.rule} />}
              </h1>
              <p class="quiet">
                Created <Time at={tagged.rule.created_on} />, changed <Time at={tagged.rule.modified_on} />
              </p>
            </section>
            <div class="actions">
              <Copy text={tagged.rule.id} label="Copy id" />
              <Copy text={() => curlOf(ruleCall(tagged.rule.id))} label="Copy as curl" />
              {may('dns_protection:write') && !isGone && (
                <button
                  type="button"
                  class="harm-outline"
                  onClick={() => void confirmAndDelete(tagged, isDeleting)}
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
                  name={scopeText(tagged.rule)}
                  tagged={tagged}
                  settingsOf={({ rule }) => settingsOf(rule)}
                  titles={settingTitles}
                  update={updateRule}
                  reload={reads.again}
                  fields={SettingsFields}
                />
              ) : (
                <ReadOnly rule={tagged.rule} />
              )}
            </section>
            <History id={id} name={scopeText(tagged.rule)} />
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
