import type { FieldsProps } from '../../ui/form/editForm.tsx';
import { bindingOf, CheckField, SelectField, TextField } from '../../ui/form/fields.tsx';
import { levelsOf, sensitivityNames } from '../rules/settings.tsx';
import { type PolicySettings, policyTitles, type SettingName } from './settings.ts';

const CHOICES: readonly (readonly [SettingName, readonly (readonly [string, string])[]])[] = [
  [
    'mode',
    [
      ['inherit', 'inherit: the mode of the rule in force'],
      ...(['enabled', 'monitoring', 'disabled'] as const).map((mode) => [mode, mode] as const),
    ],
  ],
  [
    'judge_by',
    [
      ['auto', 'auto: as the guard has learned'],
      ['names', 'names: limits unknown names'],
      ['rate', 'rate: limits all queries above a rate'],
    ],
  ],
];

const NUMBERS: readonly (readonly [SettingName, max: number, note: string])[] = [
  ['rate', 400_000, 'Queries per second that the zone may receive. Empty: learned.'],
  ['burst', 2_000_000, 'Size of the token bucket. Empty: five times the rate.'],
  ['unknown_per_second', 400_000, 'Queries for unknown names that are an attack. Empty: learned.'],
];

export function PolicyFields({ value, change, failure }: FieldsProps<PolicySettings>) {
  const field = (name: SettingName) => ({ name, label: policyTitles[name], failure });
  const bound = (name: SettingName) => bindingOf(value, change, name);
  return (
    <>
      <div class="levels">
        {CHOICES.map(([name, options]) => (
          <SelectField key={name} {...field(name)} chosen={bound(name)} options={options} />
        ))}
      </div>
      <div class="levels">
        {NUMBERS.map(([name, max, note]) => (
          <TextField
            key={name}
            {...field(name)}
            note={note}
            text={bound(name)}
            type="number"
            min={1}
            max={max}
            step={1}
          />
        ))}
      </div>
      <div class="levels">
        {sensitivityNames.map((name) => (
          <SelectField
            key={name}
            {...field(name)}
            chosen={bound(name)}
            options={[['', 'as the rule in force'], ...levelsOf(name)]}
          />
        ))}
      </div>
      <CheckField
        label={policyTitles.only_when_upstream_unhealthy}
        name="only_when_upstream_unhealthy"
        checked={value.only_when_upstream_unhealthy === 'yes'}
        change={(isWanted) => change({ ...value, only_when_upstream_unhealthy: isWanted ? 'yes' : 'no' })}
      />
      <TextField {...field('comment')} maxLength={500} text={bound('comment')} />
    </>
  );
}
