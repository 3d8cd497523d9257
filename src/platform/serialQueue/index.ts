// Serial execution of tasks that must not run concurrently, such as writes to one store.
export { SerialQueue } from './serialQueue.ts';
export { sharedRuns } from './sharedRuns.ts';
