/** Filter for the calls, creations and destructions that block explorers call internal transactions. */
export const INTERNAL_TRANSACTIONS = {
  kinds: ['call', 'create', 'suicide'],
  internal: true,
  callsCarryValue: true,
} as const;
