/** How things stand for an account, once a second, for whoever listens. */
export { LIVE_PERMISSION, liveHandler } from './liveHandler.ts';
export { liveState } from './liveState.ts';
export { LiveUpdates } from './liveUpdates.ts';
