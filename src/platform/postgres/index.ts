/** How to connect to a PostgreSQL. */
export { BadPostgresUrl, connectionOptions } from './connectionOptions.ts';
