/** Which calls, creations and destructions explorers call internal transactions. */
export const INTERNAL = {
  kinds: ['call', 'create', 'suicide'],
  internal: true,
  callsCarryValue: true,
} as const;
