/** The authority: reads zone files and serves small zones. In front of it `npm start` shows the guard working. */
export { respond } from './respond.ts';
export { type AuthorityServer, serveZones } from './server.ts';
export { ZoneData } from './zoneData.ts';
