import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { UnfinishedMessage, UnfinishedMessages } from '../unfinished/unfinishedMessages.ts';
import { FrameMeter } from './frameMeter.ts';

export interface MeteredConnection {
  /** The upgrade request of the connection. */
  readonly request: IncomingMessage;
  /** Called if a received message exceeds a memory limit. The callee must notify the client. */
  readonly reject: () => void;
  /** Closes the connection at once. */
  readonly evict: () => void;
}

/** Counts the memory of the incomplete message of a WebSocket, by the bytes that its socket receives. */
export function meterMessages(
  unfinished: UnfinishedMessages,
  socket: Socket,
  { request, reject, evict }: MeteredConnection,
): void {
  const meter = new FrameMeter();
  let message: UnfinishedMessage | undefined;
  let finished = 0;
  let counted = 0;
  const end = (): void => {
    message?.end();
    message = undefined;
    counted = 0;
  };
  socket.on('data', (chunk: Buffer) => {
    meter.read(chunk);
    const { unfinishedBytes: bytes } = meter;
    if (bytes === undefined || meter.finished !== finished) end();
    finished = meter.finished;
    if (bytes === undefined) return;
    const more = bytes - counted;
    counted = bytes;
    if (message === undefined) message = unfinished.begin(request, more, evict);
    else if (message.received(more)) return;
    else return reject();
    if (message === undefined) reject();
  });
  socket.once('close', end);
}
