const WEI_DIGITS = 18;

const grouped = (digits: string): string => digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** Formats wei as ETH without rounding: `1,234.5`. */
export function formatEther(wei: bigint): string {
  const digits = (wei < 0n ? -wei : wei).toString().padStart(WEI_DIGITS + 1, '0');
  const fraction = digits.slice(-WEI_DIGITS).replace(/0+$/, '');
  const whole = grouped(digits.slice(0, -WEI_DIGITS));
  return `${wei < 0n ? '−' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Parses an amount in ETH. Returns wei, or undefined for an invalid amount. */
export function parseEther(text: string): bigint | undefined {
  const [, whole, fraction = ''] =
    /^(\d{0,30})(?:\.(\d{0,18}))?$/.exec(text.trim().replaceAll(',', '')) ?? [];
  if (whole === undefined || whole + fraction === '') return undefined;
  return BigInt(whole + fraction.padEnd(WEI_DIGITS, '0'));
}

/** Formats an integer or a hex quantity: `12,345`. */
export const formatQuantity = (value: string | number | bigint): string => grouped(BigInt(value).toString());
