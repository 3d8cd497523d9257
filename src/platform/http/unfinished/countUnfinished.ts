import type { TrackedResponse } from '../unsent/trackedResponse.ts';
import { CountedRequest } from './countedRequest.ts';
import type { UnfinishedMessages } from './unfinishedMessages.ts';

export interface AdmissionCallbacks {
  readonly proceed: () => void;
  /** Called if the request would exceed the memory limit. */
  readonly reject: () => void;
}

/**
 * Counts the memory of a request until its body is complete. Nearly all requests arrive in one piece and are not
 * counted. Whether the whole body has arrived is known in the next tick if its length is known, otherwise in the next
 * event loop iteration.
 */
export function countUnfinished(
  unfinished: UnfinishedMessages,
  response: TrackedResponse,
  { proceed, reject }: AdmissionCallbacks,
): void {
  const { req: request } = response;
  if (request.complete || !(request instanceof CountedRequest)) return proceed();
  const isGone = (): boolean => response.isFinished || !request.socket.writable;
  process.nextTick(() => {
    if (isGone()) return;
    if (request.isComplete) return proceed();
    setImmediate(() => {
      if (isGone()) return;
      if (request.isComplete || count(unfinished, response, request)) proceed();
      else reject();
    });
  });
}

/** Starts to count the memory of a request. Returns false if the request would exceed the memory limit. */
function count(unfinished: UnfinishedMessages, response: TrackedResponse, request: CountedRequest): boolean {
  const { socket } = request;
  const close = (): void => void socket.destroy();
  const message = unfinished.begin(request, request.bodyBytes, close);
  if (message === undefined) return false;
  // Node emits no `close` for a request that is answered before its body is complete.
  const ended = (): void => {
    message.end();
    socket.off('close', ended);
  };
  socket.on('close', ended);
  // After the response, the rest of the body is read and discarded.
  response.onFinished(() => message.drop());
  request.observeBody({
    ended,
    received(bytes) {
      if (message.isDropped || message.received(bytes)) return;
      message.drop();
      (response.rejectBody ?? close)();
    },
  });
  return true;
}
