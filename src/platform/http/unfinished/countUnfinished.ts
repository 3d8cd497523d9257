import type { TrackedResponse } from '../unsent/trackedResponse.ts';
import { CountedRequest } from './countedRequest.ts';
import type { UnfinishedMessages } from './unfinishedMessages.ts';

export interface AdmissionCallbacks {
  readonly proceed: () => void;
  /** Called if the request would exceed the memory limit. */
  readonly reject: () => void;
  /** Called before the request of an incomplete body is counted. Determines the API key of its client. */
  readonly identify: () => void;
}

/**
 * Counts the memory of a request from its first piece until its body was handled. Nearly all requests arrive in one
 * piece and are not counted. Whether the whole body has arrived is known in the next tick if its length is known,
 * otherwise in the next event loop iteration. At most four bodies of a client are read or handled at the same time.
 */
export function countUnfinished(
  unfinished: UnfinishedMessages,
  response: TrackedResponse,
  callbacks: AdmissionCallbacks,
): void {
  const { req: request } = response;
  const { proceed } = callbacks;
  if (request.complete || !(request instanceof CountedRequest)) return proceed();
  const isGone = (): boolean => response.isFinished || !request.socket.writable;
  process.nextTick(() => {
    if (isGone()) return;
    if (request.isComplete) return proceed();
    setImmediate(() => {
      if (isGone()) return;
      if (request.isComplete) proceed();
      else count(unfinished, { response, request }, callbacks);
    });
  });
}

/** Counts a request, and proceeds with it when fewer than four bodies of its client are read. */
function count(
  unfinished: UnfinishedMessages,
  { response, request }: { response: TrackedResponse; request: CountedRequest },
  { proceed, reject, identify }: AdmissionCallbacks,
): void {
  const { socket } = request;
  const close = (): void => void socket.destroy();
  identify();
  const message = unfinished.begin(request, request.bodyBytes, close);
  if (message === undefined) return reject();
  let isComplete = false;
  let isStarted = false;
  let release = (): void => undefined;
  // Node emits no `close` for a request that is answered before its body is complete.
  const ended = (): void => {
    message.end();
    release();
    socket.off('close', ended);
  };
  /** The body was handled or rejected. Bytes that still arrive are discarded. */
  const handled = (): void => {
    message.drop();
    release();
    if (isComplete) ended();
  };
  socket.on('close', ended);
  response.bodyHandled = handled;
  response.onFinished(handled);
  request.observeBody({
    ended() {
      isComplete = true;
      if (message.isDropped) ended();
    },
    received(bytes) {
      if (message.isDropped || message.received(bytes)) return;
      handled();
      if (isStarted) (response.rejectBody ?? close)();
      else reject();
    },
  });
  // Until the body is read, node buffers one read of at most 64 KiB; the rest stays in the kernel.
  release = unfinished.slots.take(message.client, () => {
    isStarted = true;
    if (!response.isFinished && !message.isDropped) proceed();
  });
}
