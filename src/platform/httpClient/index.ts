export { createPool } from './createPool.ts';
