/** Connection options of PostgreSQL. */
export { BadPostgresUrl, connectionOptions } from './connectionOptions.ts';
