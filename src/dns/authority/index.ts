/** Small authoritative DNS server that serves zone files. It is the backend for `npm start` and for tests. */
export { respond } from './respond.ts';
export { type AuthorityServer, serveZones } from './server.ts';
export { ZoneData } from './zoneData.ts';
