/** Connection options of PostgreSQL. */
export { BadPostgresUrl, type DatabaseHosts, databaseHosts } from './connectionOptions.ts';
