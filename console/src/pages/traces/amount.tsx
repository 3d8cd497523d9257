import { formatDecimals, formatQuantity, UNITS, type Unit } from './frames/ether.ts';

const GWEI = 10n ** 9n;

export const unitOf = (query: URLSearchParams): Unit =>
  (Object.keys(UNITS) as Unit[]).find((unit) => unit === query.get('unit')) ?? 'ETH';

/** Splits an amount at its decimal point. In ETH, less than a gwei is shown as wei. */
function partsOf(wei: bigint, unit: Unit): { readonly whole: string; readonly fraction: string } {
  if (unit === 'ETH' && wei > 0n && wei < GWEI) return { whole: `${formatQuantity(wei)} wei`, fraction: '' };
  const [whole = '', fraction = ''] = formatDecimals(wei, UNITS[unit]).split('.');
  return { whole, fraction };
}

/** Returns the decimals of the amount of a column that has most. */
export const decimalsIn = (amounts: readonly bigint[], unit: Unit): number =>
  Math.max(0, ...amounts.map((wei) => partsOf(wei, unit).fraction.length));

interface AmountProps {
  readonly wei: bigint;
  readonly unit: Unit;
  /** Number of decimals of the column. Its decimal points are aligned, except those of amounts in wei. */
  readonly decimals: number;
}

export function Amount({ wei, unit, decimals }: AmountProps) {
  const { whole, fraction } = partsOf(wei, unit);
  const isWei = whole.endsWith('wei');
  return (
    <span class={wei === 0n ? 'amount quiet' : 'amount'} title={`${formatQuantity(wei)} wei`}>
      {whole}
      {decimals > 0 && !isWei && (
        <span class="fraction" style={{ minWidth: `${decimals + 0.5}ch` }}>
          {fraction && `.${fraction}`}
        </span>
      )}
    </span>
  );
}
