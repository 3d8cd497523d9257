/** HTTP for clients and operators: listener, limits, WebSockets, health, metrics, and accounting of unsent bytes. */

export { ConnectionLimits, type ConnectionLimitsOptions } from './connections/connectionLimits.ts';
export { Handshakes } from './handshakes.ts';
export { createListener } from './listener.ts';
export {
  type ListenerContent,
  type OpenListener,
  type OpenListenerDependencies,
  type OpenListenerOptions,
  openListener,
} from './openListener.ts';
export { operations, type Readiness } from './operations.ts';
export { RejectionCounter } from './rejectionCounter.ts';
export { retryAfter } from './retryAfter.ts';
export { serveInOrder } from './serveInOrder.ts';
export { readTlsFiles, type TlsFiles } from './tlsFiles.ts';
export { TooMuchUnsentError } from './tooMuchUnsent.ts';
export { clientOf, identifyClient } from './unfinished/countedRequest.ts';
export { UnfinishedMessages } from './unfinished/unfinishedMessages.ts';
export { isSocketPath } from './unixSocket.ts';
export { Readers } from './unsent/readers.ts';
export { TrackedResponse } from './unsent/trackedResponse.ts';
export { CLOSE_REASONS, type CloseReason } from './webSocket/closing.ts';
export type { MessageMemory } from './webSocket/messageMemory.ts';
export type { Upgrade } from './webSocket/upgrade.ts';
export type { MessageHandler, WebSocketConnection } from './webSocket/webSocketConnection.ts';
export { WebSockets } from './webSocket/webSockets.ts';
