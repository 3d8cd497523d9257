/** What both interfaces share: the listener and its limits, WebSockets, health, metrics, and the ledger of what is not sent yet. */

export { createListener } from './listener.ts';
export {
  type OpenListener,
  type OpenListenerDependencies,
  type OpenListenerOptions,
  openListener,
  type Shown,
} from './openListener.ts';
export { operations, type Readiness } from './operations.ts';
export type { RefusalAnswer, RefuseBody } from './pipelining/refusedRequest.ts';
export { serveInOrder } from './serveInOrder.ts';
export { readTlsFiles, type TlsFiles } from './tlsFiles.ts';
export { isSocketPath } from './unixSocket.ts';
export { Readers } from './unsent/readers.ts';
export { TooMuchUnsentError } from './unsent/tooMuchUnsent.ts';
export { TrackedResponse } from './unsent/trackedResponse.ts';
export { CLOSE_REASONS, type CloseReason } from './webSocket/closing.ts';
export type { MessageSpace } from './webSocket/messageSpace.ts';
export type { Upgrade } from './webSocket/upgrade.ts';
export type { MessageHandler, WebSocketConnection } from './webSocket/webSocketConnection.ts';
export { WebSockets } from './webSocket/webSockets.ts';
