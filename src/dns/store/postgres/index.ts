export { PostgresFleet } from './postgresFleet.ts';
