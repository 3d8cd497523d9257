import type { ZoneAssessment, ZonePolicy } from '../../api/types.ts';
import { formatNumber, formatPercent } from '../../ui/value/quantity.tsx';

type Assessment = ZoneAssessment['assessment'];

interface AssessmentText {
  readonly sign: string;
  readonly text: string;
  /** Verb phrase for one zone, and for several, in the headline. */
  readonly one: string;
  readonly many: string;
  readonly class: 'look' | 'quiet' | 'well';
}

/** Texts of assessments, the most urgent first. */
export const assessmentTexts: Readonly<Record<Assessment, AssessmentText>> = {
  under_attack: {
    ...{ sign: '▲', text: 'under attack', class: 'look' },
    ...{ one: 'is under attack', many: 'are under attack' },
  },
  needs_rate: {
    ...{ sign: '!', text: 'needs a rate', class: 'look' },
    ...{ one: 'needs a rate', many: 'need a rate' },
  },
  still_learning: {
    ...{ sign: '…', text: 'still learning', class: 'quiet' },
    ...{ one: 'is still learning', many: 'are still learning' },
  },
  safe_to_enable: {
    ...{ sign: '✓', text: 'safe to enable', class: 'well' },
    ...{ one: 'is safe to enable', many: 'are safe to enable' },
  },
};

/** Returns a text such as `3 zones: 1 needs a rate, 2 are safe to enable. One policy.` */
export function zonesHeadline(
  assessments: readonly ZoneAssessment[],
  policies: readonly ZonePolicy[],
): string {
  const isOnly = assessments.length === 1;
  const parts = Object.entries(assessmentTexts).flatMap(([assessment, { one, many }]) => {
    const count = assessments.filter((zone) => zone.assessment === assessment).length;
    return count === 0 ? [] : [isOnly ? one : `${count} ${count === 1 ? one : many}`];
  });
  const zones = isOnly ? 'One zone' : `${assessments.length} zones:`;
  const assessed = parts.length === 0 ? '' : `${zones} ${parts.join(', ')}. `;
  if (policies.length === 0) return `${assessed}No policies.`;
  return `${assessed}${policies.length === 1 ? 'One policy' : `${policies.length} policies`}.`;
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
