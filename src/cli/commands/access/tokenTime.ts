import { boundedTimestamp, type Micros, parseMoment } from '../../../rules/index.ts';
import { UsageError } from '../../operatorError.ts';

const MICROS_PER_SECOND = 1_000_000;
const secondsPerUnit = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const duration = /^(\d{1,6})([smhdw])$/;
const moment =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?)?(?:Z|([+-]\d{2}):?(\d{2}))?$/i;

/**
 * Parses a duration before or after `now` (`90d`, `12h`), or a date with or without a time (`2027-01-31`,
 * `2027-01-31T12:00:00Z`; UTC if it has no offset). Throws UsageError.
 */
export function readMoment(text: string, now: Micros, direction: 'past' | 'future'): string {
  const span = duration.exec(text);
  if (span) {
    const unit = span[2] as keyof typeof secondsPerUnit; // the expression admits these letters only
    const micros = Number(span[1]) * secondsPerUnit[unit] * MICROS_PER_SECOND;
    return boundedTimestamp(direction === 'future' ? now + micros : now - micros);
  }
  const [, date, time = '00:00', seconds = ':00', hours = '+00', minutes = '00'] = moment.exec(text) ?? [];
  const parsed = parseMoment(`${date}T${time}${seconds}${hours}:${minutes}`);
  if (parsed !== undefined) return parsed;
  throw new UsageError(
    `"${text}" is not a time; allowed: a duration such as 90d or 12h, or a date such as 2027-01-31T12:00:00Z`,
  );
}
