/** Connection options of PostgreSQL. */
export { BadPostgresUrl, connectionOptions, type DatabaseHosts, databaseHosts } from './connectionOptions.ts';
