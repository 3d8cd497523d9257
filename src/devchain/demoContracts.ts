/** Contracts that the demo traffic calls. They are hand-written bytecode, so that no Solidity compiler is needed. */

export type Hex = `0x${string}`;

/** Address of anvil's account 9. Its first three transactions create the contracts below at known addresses. */
export const DIRECTOR = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';
/** Contract that calls the address in the first word of its input, with the rest of the input and the same value. */
export const WALLET = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35';
/** Contract that creates a contract from its input (the init code) and returns the new address. */
export const FACTORY = '0xa15bb66138824a1c7167f5e85b957d04dd34e468';
/** Contract that delegates each call to the code of `WALLET`. */
export const PROXY = '0xb19b36b1456e65e3a6d514d3f715f204bd59f431';
/** An address that has no code, and whose private key nobody knows. */
export const NOBODY = '0x00000000000000000000000000000000c0ffee00';

/** Bytecode that reverts with the data that the last call returned. */
const REVERT_WITH_RETURNED = '3d5f5f3e3d5ffd';
const COPY_INPUT = '365f5f37';
/** Bytecode at the end of a contract: a jump destination, then STOP. */
const END = '5b00';

const walletCode = [
  '3615602057', // stop if there is no input: a plain transfer
  COPY_INPUT,
  '5f5f602036036020345f355af1', // call(gas, input[0], callvalue, input[32..])
  '602057',
  REVERT_WITH_RETURNED,
  END,
];
const factoryCode = [
  COPY_INPUT,
  '365f34f0', // create(callvalue, input)
  '5f5260205ff3',
];
const proxyCode = [
  COPY_INPUT,
  `5f5f365f73${WALLET.slice(2)}5af4`, // delegatecall(gas, wallet, input)
  '602957',
  REVERT_WITH_RETURNED,
  END,
];

/** Returns init code that deploys `parts`. Its first nine bytes copy the code after them to memory and return it. */
function initOf(parts: readonly string[]): Hex {
  const code = parts.join('');
  const size = (code.length / 2).toString(16).padStart(2, '0');
  return `0x60${size}8060095f395ff3${code}`;
}

export const WALLET_INIT = initOf(walletCode);
export const FACTORY_INIT = initOf(factoryCode);
export const PROXY_INIT = initOf(proxyCode);

export const EMPTY_INIT: Hex = '0x00';
/** Init code that reverts with the text `no`. */
export const REVERTING_INIT: Hex = '0x616e6f5f526002601efd';
export const INVALID_INIT: Hex = '0xfe';
/** Init code that self-destructs the new contract and sends its balance to `NOBODY`. */
export const DESTROYING_INIT: Hex = `0x73${NOBODY.slice(2)}ff`;

/** Returns the input with which the wallet or the proxy calls `to` with `input`. */
export function callOf(to: Hex, input: Hex = '0x'): Hex {
  return `0x${to.slice(2).padStart(64, '0')}${input.slice(2)}`;
}
