import type { ZoneAssessment, ZonePolicy } from '../../api/types.ts';
import { counted, formatNumber, formatPercent } from '../../ui/value/quantity.tsx';

type Assessment = ZoneAssessment['assessment'];

interface AssessmentText {
  readonly sign: string;
  readonly text: string;
  readonly class: 'look' | 'quiet' | 'well';
}

/** Texts of assessments, the most urgent first. */
export const assessmentTexts: Readonly<Record<Assessment, AssessmentText>> = {
  under_attack: { sign: '▲', text: 'under attack', class: 'look' },
  needs_rate: { sign: '!', text: 'needs a rate', class: 'look' },
  still_learning: { sign: '…', text: 'still learning', class: 'quiet' },
  safe_to_enable: { sign: '✓', text: 'safe to enable', class: 'well' },
};

/** Returns a text such as `3 zones: needs a rate (1), safe to enable (2). 1 policy.` */
export function zonesHeadline(
  assessments: readonly ZoneAssessment[],
  policies: readonly ZonePolicy[],
): string {
  const parts = Object.entries(assessmentTexts).flatMap(([assessment, { text }]) => {
    const count = assessments.filter((zone) => zone.assessment === assessment).length;
    return count === 0 ? [] : [`${text} (${count})`];
  });
  const zones = parts.length === 0 ? '' : `${counted(assessments.length, 'zone')}: ${parts.join(', ')}. `;
  return `${zones}${policies.length === 0 ? 'No policies' : counted(policies.length, 'policy', 'policies')}.`;
}

export function limitedShare(zone: ZoneAssessment, span: 'hour' | 'day' | 'week'): string {
  const { queries, limited_share } = zone[span];
  return queries === 0
    ? 'no queries'
    : formatPercent(limited_share[zone.profile_sensitivity][zone.rate_sensitivity]);
}

/** Returns a text such as `2,000 queries/s, burst 10,000`. */
export const rateText = ({ rate, burst }: Pick<ZonePolicy, 'rate' | 'burst'>): string =>
  [
    ...(rate === null ? [] : [`${formatNumber(rate)} queries/s`]),
    ...(burst === null ? [] : [`burst ${formatNumber(burst)}`]),
  ].join(', ') || 'learned';

export const sensitivitiesText = (policy: ZonePolicy): string =>
  (['profile', 'rate', 'burst'] as const)
    .flatMap((name) => {
      const level = policy[`${name}_sensitivity`];
      return level === null ? [] : [`${name} ${level.replace('_', ' ')}`];
    })
    .join(', ') || 'of the rule';
