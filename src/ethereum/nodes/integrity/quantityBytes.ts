/** A quantity (`0x…`) as it is hashed: without leading zero bytes; zero is no byte. */
export function quantityBytes(quantity: string): Uint8Array {
  const digits = quantity.slice(2).replace(/^0+/, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}
