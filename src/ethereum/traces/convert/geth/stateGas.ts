/** Gas that a frame may use at most (EIP-7825). Since Amsterdam, gas above it pays for new state only. */
export const MAX_EXECUTION_GAS = 16_777_216n;
/** Gas for a byte of new state since Amsterdam (EIP-8037). */
const STATE_BYTE_GAS = 1_530n;
/** Gas for a new account: 120 bytes of state. */
export const NEW_ACCOUNT_GAS = 120n * STATE_BYTE_GAS;
/** Runtime charges for execution, as in go-ethereum 1.17.8: none, a warm and a cold account, a write. */
const EXECUTION_CHARGES = [0n, 100n, 3_000n, 9_000n];

/** Returns the part of a runtime charge that pays for new state. */
export function stateGasIn(charge: bigint): bigint {
  const execution = EXECUTION_CHARGES.find(
    (known) => known <= charge && (charge - known) % STATE_BYTE_GAS === 0n,
  );
  return charge - (execution ?? charge);
}
