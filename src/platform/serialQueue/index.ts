// One task after the other: for what must not run beside itself, as writes of one store.
export { SerialQueue } from './serialQueue.ts';
