const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** Formats a number: `24,171`; below ten with at most one decimal. */
export const formatNumber = (value: number): string => (Math.abs(value) < 10 ? small : whole).format(value);

/** Returns the singular or plural noun for a number as it is displayed. */
export const pluralOf = (value: number, one: string, many = `${one}s`): string =>
  formatNumber(value) === '1' ? one : many;
/** Returns a number with its noun: `1 block`, `2 blocks`. */
export const counted = (value: number, one: string, many?: string): string =>
  `${formatNumber(value)} ${pluralOf(value, one, many)}`;

/** Formats a fraction as `96 %`. Values close to 0 or 1 are not rounded to 0 % or 100 %. */
export function formatPercent(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  if (percent < 100 && percent > 99.99) return '> 99.99 %';
  // Users are harmed below 99 %, so 98.96 % must not look like that.
  if (percent >= 98 && percent < 99) return `${(Math.floor(percent * 10) / 10).toFixed(1)} %`;
  // Near 100 % there are two decimals, because 99.98 % of users must not look like all of them.
  const digits = percent >= 99.5 && percent < 100 ? 2 : percent > 0 && percent < 10 ? 1 : 0;
  return `${percent.toFixed(digits)} %`;
}

interface QuantityProps {
  readonly value: number;
  readonly unit: string;
}

export const Quantity = ({ value, unit }: QuantityProps) => (
  <span class="quantity">
    <span class="number">{formatNumber(value)}</span>
    <span class="quiet"> {unit}</span>
  </span>
);
