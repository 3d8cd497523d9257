/** Returns a quantity (`0x…`) as it is hashed: as big-endian bytes without leading zeros. Zero has no bytes. */
export function quantityBytes(quantity: string): Uint8Array {
  const digits = quantity.slice(2).replace(/^0+/, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}
