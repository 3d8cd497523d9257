import type { FieldsProps } from '../../ui/form/editForm.tsx';
import { errorAttributes, FieldError } from '../../ui/form/fieldError.tsx';
import { levels } from '../rules/settings.tsx';
import { type PolicySettings, policyTitles, type SettingName } from './settings.ts';

const OPTIONS = {
  mode: {
    inherit: 'inherit: the mode of the rule in force',
    ...{ enabled: 'enabled', monitoring: 'monitoring', disabled: 'disabled' },
  },
  judge_by: {
    auto: 'auto: as the guard has learned',
    names: 'names: limits unknown names',
    rate: 'rate: limits all queries above a rate',
  },
} as const;

const NUMBER_FIELDS: readonly { name: SettingName; max: number; note: string }[] = [
  { name: 'rate', max: 400_000, note: 'Queries per second that the zone may receive. Empty: learned.' },
  { name: 'burst', max: 2_000_000, note: 'Size of the token bucket. Empty: five times the rate.' },
  {
    ...{ name: 'unknown_per_second', max: 400_000 },
    note: 'Queries for unknown names that are an attack. Empty: learned.',
  },
];

const SENSITIVITIES = ['profile_sensitivity', 'rate_sensitivity', 'burst_sensitivity'] as const;

export function PolicyFields({ value, change, failure }: FieldsProps<PolicySettings>) {
  const input = (name: SettingName) => ({
    ...{ name, value: value[name], ...errorAttributes({ failure, name }) },
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      change({ ...value, [name]: currentTarget.value }),
  });
  return (
    <>
      <div class="levels">
        {(['mode', 'judge_by'] as const).map((name) => (
          <div key={name}>
            <label>
              {policyTitles[name]}
              <select {...input(name)}>
                {Object.entries(OPTIONS[name]).map(([option, text]) => (
                  <option key={option} value={option}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <FieldError failure={failure} name={name} />
          </div>
        ))}
      </div>
      <div class="levels">
        {NUMBER_FIELDS.map(({ name, max, note }) => (
          <div key={name}>
            <label>
              {policyTitles[name]}
              <input type="number" min={1} max={max} step={1} {...input(name)} />
              <span class="note">{note}</span>
            </label>
            <FieldError failure={failure} name={name} />
          </div>
        ))}
      </div>
      <div class="levels">
        {SENSITIVITIES.map((name) => (
          <div key={name}>
            <label>
              {policyTitles[name]}
              <select {...input(name)}>
                <option value="">as the rule in force</option>
                {levels[name].map((level) => (
                  <option key={level} value={level}>
                    {level.replace('_', ' ')}
                  </option>
                ))}
              </select>
            </label>
            <FieldError failure={failure} name={name} />
          </div>
        ))}
      </div>
      <label class="check">
        <input
          type="checkbox"
          name="only_when_upstream_unhealthy"
          checked={value.only_when_upstream_unhealthy === 'yes'}
          onChange={({ currentTarget }) =>
            change({ ...value, only_when_upstream_unhealthy: currentTarget.checked ? 'yes' : 'no' })
          }
        />
        {policyTitles.only_when_upstream_unhealthy}
      </label>
      <div>
        <label>
          {policyTitles.comment}
          <input autocomplete="off" maxLength={500} {...input('comment')} />
        </label>
        <FieldError failure={failure} name="comment" />
      </div>
    </>
  );
}
