import type { Column } from '../../ui/table/table.tsx';
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

/** Returns a column of amounts, with the decimals of the amount that has most. */
export function valueColumn<Row>(rows: readonly Row[], unit: Unit, weiOf: (row: Row) => bigint): Column<Row> {
  const decimals = Math.max(0, ...rows.map((row) => partsOf(weiOf(row), unit).fraction.length));
  return {
    title: `Value, ${unit}`,
    isNumber: true,
    cell: (row) => <Amount wei={weiOf(row)} unit={unit} decimals={decimals} />,
  };
}

interface AmountProps {
  readonly wei: bigint;
  readonly unit: Unit;
  /** Number of decimals of the column. Its decimal points are aligned, except those of amounts in wei. */
  readonly decimals: number;
}

function Amount({ wei, unit, decimals }: AmountProps) {
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
