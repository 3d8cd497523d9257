/** Small authoritative DNS server for zone files: the backend for `npm start` and for tests. */
export { respond } from './respond.ts';
export { type AuthorityServer, serveZones } from './server.ts';
export { ZoneData } from './zoneData.ts';
