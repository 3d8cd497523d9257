const WEI_DIGITS = 18;
const GWEI_DIGITS = 9;

const integers = new Intl.NumberFormat('en');

/** Formats an integer as a number with this number of decimals, without rounding: `1,234.5`. */
export function formatDecimals(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const integer = integers.format(BigInt(digits.slice(0, digits.length - decimals)));
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${value < 0n ? '−' : ''}${integer}${fraction === '' ? '' : `.${fraction}`}`;
}

export const UNITS = { ETH: WEI_DIGITS, gwei: GWEI_DIGITS, wei: 0 } as const;
export type Unit = keyof typeof UNITS;

export const formatEther = (wei: bigint): string => formatDecimals(wei, WEI_DIGITS);
export const formatGwei = (wei: bigint): string => `${formatDecimals(wei, GWEI_DIGITS)} gwei`;

/** Formats wei with its unit: ETH, or wei if it is less than a gwei. */
export const formatWei = (wei: bigint): string =>
  wei < 10n ** BigInt(GWEI_DIGITS) ? `${formatQuantity(wei)} wei` : `${formatEther(wei)} ETH`;

/** Parses an amount in ETH. Returns wei, or undefined for an invalid amount. */
export function parseEther(text: string): bigint | undefined {
  const [, whole, fraction = ''] =
    /^(\d{0,30}|\d{1,3}(?:,\d{3}){1,9})(?:\.(\d{0,18}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || whole + fraction === '') return undefined;
  return BigInt(whole.replaceAll(',', '') + fraction.padEnd(WEI_DIGITS, '0'));
}

/** Formats an integer or a hex quantity: `12,345`. */
export const formatQuantity = (value: string | number | bigint): string => integers.format(BigInt(value));
