export { interceptRequests } from './interceptRequests.ts';
export { createListener } from './listener.ts';
export { operations, type Readiness } from './operations.ts';
