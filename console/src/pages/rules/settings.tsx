import type { RuleSettings } from '../../api/types.ts';
import type { FieldsProps } from '../../ui/form/editForm.tsx';
import { bindingOf, CheckField, SelectField } from '../../ui/form/fields.tsx';
import { modeEffects, modes } from './texts.ts';

export type Settings = Pick<RuleSettings, keyof RuleSettings>;

export const settingTitles: Readonly<Record<keyof Settings, string>> = {
  mode: 'Mode',
  profile_sensitivity: 'Profile sensitivity',
  rate_sensitivity: 'Rate sensitivity',
  burst_sensitivity: 'Burst sensitivity',
};

export const settingsOf = (rule: Settings): Settings =>
  Object.fromEntries(
    Object.keys(settingTitles).map((name) => [name, rule[name as keyof Settings]]),
  ) as unknown as Settings; // the titles name all settings

const SENSITIVITIES = {
  profile_sensitivity: 'Sensitivity to names that were not seen before: how early they count as an attack.',
  rate_sensitivity: 'Sensitivity to the sustained rate: high drops packets at a lower rate than low.',
  burst_sensitivity: 'Sensitivity to bursts: high drops packets at a smaller burst than low.',
} as const;
export const sensitivityNames = Object.keys(SENSITIVITIES) as (keyof typeof SENSITIVITIES)[];

export const levelsOf = (name: keyof typeof SENSITIVITIES): readonly (readonly [string, string])[] => [
  ...(['low', 'medium', 'high'] as const).map((level) => [level, level] as const),
  ...(name === 'profile_sensitivity' ? ([['very_high', 'very high']] as const) : []),
];

export const SettingsFields = ({ value, change }: Omit<FieldsProps<Settings>, 'failure'>) => (
  <>
    <fieldset>
      <legend>Mode</legend>
      {modes.map((mode) => (
        <CheckField
          key={mode}
          type="radio"
          name="mode"
          value={mode}
          checked={value.mode === mode}
          label={
            <>
              {mode} <span class="quiet">{modeEffects[mode]}</span>
            </>
          }
          change={() => change({ ...value, mode })}
        />
      ))}
    </fieldset>
    <div class="levels">
      {sensitivityNames.map((name) => (
        <SelectField
          key={name}
          name={name}
          label={settingTitles[name]}
          note={SENSITIVITIES[name]}
          options={levelsOf(name)}
          chosen={bindingOf(value, change, name)}
        />
      ))}
    </div>
  </>
);
