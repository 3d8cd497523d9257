import { ruleCalls } from '../../api/account.ts';
import { ruleInForceId } from '../../live.ts';
import { isGuarded } from '../../session.ts';
import { RecordPage } from '../../ui/form/recordPage.tsx';
import { History } from './history.tsx';
import { MonitoringAdvice } from './monitoringAdvice.tsx';
import { SettingsFields, settingsOf, settingTitles } from './settings.tsx';
import { fallbackOf, scopeText } from './texts.ts';

export function RuleDetail({ id }: { readonly id: string }) {
  return (
    <RecordPage
      kind="rule"
      list="/rules"
      id={id}
      calls={ruleCalls}
      nameOf={scopeText}
      deletion={async (rule) => {
        const all = await ruleCalls.list();
        const text =
          'value' in all
            ? fallbackOf(rule, all.value.result)
            : 'The other rules could not be read, so it is not known which one applies afterwards.';
        return { typed: rule.name, text };
      }}
      titles={settingTitles}
      settingsOf={settingsOf}
      fields={SettingsFields}
      patchOf={(changes) => changes}
      // It is known only later whether this rule is in force. Until then, a hidden tag reserves the space.
      tag={(rule) =>
        isGuarded.value && (
          <span class={rule.id === ruleInForceId.value ? 'tag' : 'tag away'}>in force here</span>
        )
      }
      above={(tagged, isDeleting) => <MonitoringAdvice tagged={tagged} isDeleting={isDeleting} />}
      aside={(rule) => <History id={id} name={scopeText(rule)} />}
    />
  );
}
