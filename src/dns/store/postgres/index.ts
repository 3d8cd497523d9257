/** What guards tell each other, on the PostgreSQL that they share. */
export { PostgresFleet } from './postgresFleet.ts';
