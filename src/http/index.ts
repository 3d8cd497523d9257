export { createListener } from './listener.ts';
export { operations, type Readiness } from './operations.ts';
