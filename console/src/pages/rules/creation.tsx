import { readFleet, ruleCalls } from '../../api/account.ts';
import type { Rule } from '../../api/types.ts';
import { account } from '../../session.ts';
import { CreationPage } from '../../ui/form/creationPage.tsx';
import { useDraft } from '../../ui/form/draft.ts';
import { CheckField, TextField } from '../../ui/form/fields.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { type Settings, SettingsFields } from './settings.tsx';
import { scopeText } from './texts.ts';

const SCOPES = [
  { scope: 'global', title: 'Everywhere', example: 'global' },
  { scope: 'region', title: 'Region', example: 'WEUR' },
  { scope: 'datacenter', title: 'Datacenter', example: 'lax' },
] as const;

/** Initial settings of a new rule. The mode `monitoring` drops no queries. */
const FIRST: Settings = {
  mode: 'monitoring',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};

export function RuleCreationForm() {
  const scope = useDraft<Rule['scope']>('scope', 'global');
  const name = useDraft('name', '');
  const settings = useDraft('settings', FIRST);
  // Locations of the guards are suggested. Without a guard, there is no suggestion.
  const fleet = useLoaded(readFleet, [account.value]);
  const scopeName = scope.value;
  const isGlobal = scopeName === 'global';
  const places = isGlobal
    ? []
    : [...new Set(fleet.value?.result.flatMap((guard) => guard[scopeName] ?? []))].toSorted();
  return (
    <CreationPage
      title="New rule"
      kind="rule"
      kinds="rules"
      list="rules"
      create={(key) => {
        const written = isGlobal ? name.value.trim() || 'global' : name.value;
        return ruleCalls.create({ scope: scopeName, name: written, ...settings.value }, key);
      }}
      messageOf={({ item, messages }) =>
        [`The rule for ${scopeText(item)} was created, in mode ${item.mode}.`, ...messages].join(' ')
      }
      fields={() => (
        <>
          <fieldset>
            <legend>Scope</legend>
            <div class="choices">
              {SCOPES.map((one) => (
                <CheckField
                  key={one.scope}
                  label={one.title}
                  type="radio"
                  name="scope"
                  value={one.scope}
                  checked={scopeName === one.scope}
                  change={() => (scope.value = one.scope)}
                />
              ))}
            </div>
          </fieldset>
          <TextField
            label={isGlobal ? 'Label' : `Name of the ${scopeName}`}
            name="name"
            required={!isGlobal}
            list="known-places"
            text={name}
            placeholder={SCOPES.find((one) => one.scope === scopeName)?.example}
            note="The most specific rule applies: datacenter before region before everywhere."
          >
            <datalist id="known-places">
              {places.map((place) => (
                <option key={place} value={place} />
              ))}
            </datalist>
          </TextField>
          <SettingsFields value={settings.value} change={(changed) => (settings.value = changed)} />
        </>
      )}
    />
  );
}
