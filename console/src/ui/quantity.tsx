const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** `24,171`; below ten with one digit behind the point where it has one. */
export const numberText = (value: number): string => (Math.abs(value) < 10 ? small : whole).format(value);

/** `1 block`, `2 blocks`: which of the two words goes with a number as it is written. */
export const wordFor = (value: number, one: string, many: string): string =>
  numberText(value) === '1' ? one : many;

/** A share of one as `96 %`; what is nearly all or nearly nothing is not rounded to it. */
export function percentText(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  if (percent < 100 && percent > 99.99) return '> 99.99 %';
  // Between nearly all and all a hundredth counts: 99.98 % of users are not 100 %.
  const digits = percent >= 99.5 && percent < 100 ? 2 : percent > 0 && percent < 10 ? 1 : 0;
  return `${percent.toFixed(digits)} %`;
}

export interface QuantityProps {
  readonly value: number;
  /** `queries/s`, `blocks` */
  readonly unit?: string;
  /** What time it is about: `last 10 s`. */
  readonly span?: string;
}

/** A number with its unit and its span. */
export function Quantity({ value, unit, span }: QuantityProps) {
  return (
    <span class="quantity">
      <span class="number">{numberText(value)}</span>
      {unit && <span class="unit"> {unit}</span>}
      {span && <span class="span">, {span}</span>}
    </span>
  );
}
