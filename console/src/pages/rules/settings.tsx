import type { Rule } from '../../api/types.ts';
import { modeEffects, modes } from './texts.ts';

export type Settings = Pick<Rule, 'mode' | 'profile_sensitivity' | 'rate_sensitivity' | 'burst_sensitivity'>;
export const settingNames = ['mode', 'profile_sensitivity', 'rate_sensitivity', 'burst_sensitivity'] as const;

export const settingsOf = ({
  mode,
  profile_sensitivity,
  rate_sensitivity,
  burst_sensitivity,
}: Settings): Settings => ({
  ...{ mode, profile_sensitivity, rate_sensitivity, burst_sensitivity },
});

export const settingTitles: Readonly<Record<keyof Settings, string>> = {
  mode: 'Mode',
  profile_sensitivity: 'Profile sensitivity',
  rate_sensitivity: 'Rate sensitivity',
  burst_sensitivity: 'Burst sensitivity',
};

const NOTES: Readonly<Record<Exclude<keyof Settings, 'mode'>, string>> = {
  profile_sensitivity: 'Sensitivity to names that were not seen before: how early they count as an attack.',
  rate_sensitivity: 'Sensitivity to the sustained rate: high drops packets at a lower rate than low.',
  burst_sensitivity: 'Sensitivity to bursts: high drops packets at a smaller burst than low.',
};

export const levels = {
  profile_sensitivity: ['low', 'medium', 'high', 'very_high'],
  rate_sensitivity: ['low', 'medium', 'high'],
  burst_sensitivity: ['low', 'medium', 'high'],
} as const;

export interface SettingsFieldsProps {
  readonly value: Settings;
  readonly change: (settings: Settings) => void;
}

export function SettingsFields({ value, change }: SettingsFieldsProps) {
  return (
    <>
      <fieldset>
        <legend>Mode</legend>
        {modes.map((mode) => (
          <label key={mode} class="check">
            <input
              type="radio"
              name="mode"
              value={mode}
              checked={value.mode === mode}
              onChange={() => change({ ...value, mode })}
            />
            <span>
              {mode} <span class="quiet">{modeEffects[mode]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="levels">
        {(['profile_sensitivity', 'rate_sensitivity', 'burst_sensitivity'] as const).map((name) => (
          <label key={name}>
            {settingTitles[name]}
            <select
              name={name}
              value={value[name]}
              // The cast is safe, because the value is one of the options below.
              onChange={({ currentTarget }) => change({ ...value, [name]: currentTarget.value } as Settings)}
            >
              {levels[name].map((level) => (
                <option key={level} value={level}>
                  {level.replace('_', ' ')}
                </option>
              ))}
            </select>
            <span class="note">{NOTES[name]}</span>
          </label>
        ))}
      </div>
    </>
  );
}
