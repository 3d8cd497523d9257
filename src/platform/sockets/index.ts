export { resetConnection } from './resetConnection.ts';
