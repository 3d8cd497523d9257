/** Reads the configured zones from files or by transfer, and adds the names of these zones to the profile. */
export { MasterFileError, readMasterFile } from './masterFile.ts';
export { recordData } from './recordData.ts';
export { seedZones, type ZoneSeeding, type ZoneSource } from './seedZones.ts';
export { nameOf as tsigKeyName, parseTsigKey, parseTsigKeys, type TsigKey, TsigKeyError } from './tsigKey.ts';
export { ZoneFile } from './zoneFile.ts';
export { transferZone } from './zoneTransfer.ts';
