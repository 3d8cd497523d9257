import { useSignal } from '@preact/signals';
import { readFleet } from '../../api/guard.ts';
import { ruleCalls } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { account } from '../../session.ts';
import { CreationPage } from '../../ui/form/creationPage.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { type Settings, SettingsFields } from './settings.tsx';
import { scopeText } from './texts.ts';

const SCOPES = [
  { scope: 'global', title: 'Everywhere' },
  { scope: 'region', title: 'Region' },
  { scope: 'datacenter', title: 'Datacenter' },
] as const;

/** Initial settings of a new rule. The mode `monitoring` drops no queries. */
const FIRST: Settings = {
  mode: 'monitoring',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};

export function RuleCreationForm() {
  const scope = useSignal<Rule['scope']>('global');
  const name = useSignal('');
  const settings = useSignal(FIRST);
  // Locations of the guards are suggested. Without a guard, there is no suggestion.
  const fleet = useLoaded(readFleet, [account.value]).loaded.value;
  const scopeName = scope.value;
  const places =
    scopeName === 'global'
      ? []
      : [...new Set(fleet.value?.result.flatMap((guard) => guard[scopeName] ?? []))].toSorted();
  const fields = () => (
    <>
      <fieldset>
        <legend>Scope</legend>
        <div class="choices">
          {SCOPES.map((one) => (
            <label key={one.scope} class="check">
              <input
                type="radio"
                name="scope"
                value={one.scope}
                checked={scope.value === one.scope}
                onChange={() => {
                  scope.value = one.scope;
                }}
              />
              {one.title}
            </label>
          ))}
        </div>
      </fieldset>
      <label>
        {scope.value === 'global' ? 'Label' : `Name of the ${scope.value}`}
        <input
          name="name"
          autocomplete="off"
          spellcheck={false}
          required={scope.value !== 'global'}
          placeholder={{ global: 'global', region: 'WEUR', datacenter: 'lax' }[scope.value]}
          list="known-places"
          value={name.value}
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value;
          }}
        />
        <datalist id="known-places">
          {places.map((place) => (
            <option key={place} value={place} />
          ))}
        </datalist>
        <span class="note">The most specific rule applies: datacenter before region before everywhere.</span>
      </label>
      <SettingsFields
        value={settings.value}
        change={(changed) => {
          settings.value = changed;
        }}
      />
    </>
  );
  return (
    <CreationPage<Rule>
      {...{ title: 'New rule', kind: 'rule', kinds: 'rules', list: 'rules', fields }}
      create={(key) => {
        const written = scope.value === 'global' ? name.value.trim() || 'global' : name.value;
        return ruleCalls.create({ scope: scope.value, name: written, ...settings.value }, key);
      }}
      messageOf={({ item, messages }) =>
        [`The rule for ${scopeText(item)} was created, in mode ${item.mode}.`, ...messages].join(' ')
      }
    />
  );
}
