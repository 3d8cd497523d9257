import type { ZoneAssessment, ZonePolicy, ZonePolicyChanges } from '../../api/types.ts';
import { settingTitles as ruleTitles } from '../rules/settings.tsx';

/** Titles of the settings of a policy, in the order of the form. */
export const policyTitles = {
  mode: 'Mode',
  judge_by: 'Judge by',
  rate: 'Rate (queries/s)',
  burst: 'Burst (queries)',
  unknown_per_second: 'Unknown names (queries/s)',
  profile_sensitivity: ruleTitles.profile_sensitivity,
  rate_sensitivity: ruleTitles.rate_sensitivity,
  burst_sensitivity: ruleTitles.burst_sensitivity,
  only_when_upstream_unhealthy: 'Limit only while the servers are overloaded',
  comment: 'Comment',
} as const;

export type SettingName = keyof typeof policyTitles;
/** Settings of a policy as texts of the form. An empty text is `null`. */
export type PolicySettings = Readonly<Record<SettingName, string>>;

const settingNames = Object.keys(policyTitles) as SettingName[];
const NUMBERS: readonly string[] = ['rate', 'burst', 'unknown_per_second'] satisfies SettingName[];

export function policySettingsOf(policy: Pick<ZonePolicy, SettingName>): PolicySettings {
  const text = (value: string | number | boolean | null) =>
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '');
  return Object.fromEntries(settingNames.map((name) => [name, text(policy[name])])) as PolicySettings;
}

export function membersOf(settings: Partial<PolicySettings>): ZonePolicyChanges {
  const value = (name: string, text: string) => {
    if (name === 'comment') return text;
    if (name === 'only_when_upstream_unhealthy') return text === 'yes';
    if (text === '') return null;
    return NUMBERS.includes(name) ? Number(text) : text;
  };
  return Object.fromEntries(Object.entries(settings).map(([name, text]) => [name, value(name, text)]));
}

/** Returns the URL query that fills in the form with the rate that an assessment proposes. */
export const queryOf = ({ rate, burst }: NonNullable<ZoneAssessment['proposed']>): string =>
  `rate=${rate}&burst=${burst}`;

/** Returns the settings in a URL query of {@link queryOf}; undefined if it has none. */
export function proposedIn(search: string): Partial<PolicySettings> | undefined {
  const query = new URLSearchParams(search);
  const rate = query.get('rate') ?? '';
  const burst = query.get('burst') ?? '';
  return [rate, burst].every((text) => /^[1-9]\d{0,6}$/.test(text))
    ? { judge_by: 'rate', rate, burst }
    : undefined;
}
